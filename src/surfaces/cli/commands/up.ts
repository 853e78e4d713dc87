import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CLIENT_NAMES } from '../../../clients/client.ts';
import { type Config, loadConfig } from '../../../config.ts';
import { clockFrom } from '../../../kernel/clock.ts';
import { createLog, type Log } from '../../../kernel/log.ts';
import type { App } from '../../../main.ts';
import { PACKAGE_ROOT, VERSION } from '../../../version.ts';
import { shellQuoted } from '../../../wire/shell-quoted.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { RunningServer } from '../../http/server.ts';
import { telemetrySettings } from '../../telemetry/settings.ts';
import type { Telemetry } from '../../telemetry/start.ts';
import { openBrowser } from '../browser.ts';
import { findServer } from '../client.ts';
import { type CliCommand, CliError, type Invocation, onStopSignal, option } from '../command.ts';
import { prepareHome, removeRunFile, writeRunFile } from '../home.ts';

/** The time limit for stopping the server, and the part of this time that is reserved for closing the store. */
const STOP_MS = 4_500;
const STORE_MS = 600;

export const upCommand: CliCommand = {
  name: 'up',
  local: true,
  summary: 'Start the server.',
  description: 'The server runs until you stop it with Ctrl-C. Its data is in the folder that COVENANT_HOME names.',
  options: {
    port: { value: 'N', description: 'The port. If you give 0, the server takes a free port.', default: '3001, or the port in config.toml' },
    host: { value: 'HOST', description: 'The address to listen at.', default: '127.0.0.1, or the host in config.toml' },
    'no-open': { description: 'Do not open the dashboard in the browser.' },
  },
  examples: ['up', 'up --port 4000 --no-open'],
  async run(invocation): Promise<undefined> {
    const started = performance.now();
    const config = loadConfig(invocation.env, { port: option(invocation, 'port'), host: option(invocation, 'host') });
    prepareHome(config.home);
    const running = await findServer(invocation.env);
    if (running)
      throw new CliError(
        'ALREADY_RUNNING',
        `A server of this home is running at ${running.url} (process ${running.pid}).`,
        `Use it, or stop it with: kill ${running.pid}. For a second server, set another COVENANT_HOME.`,
      );

    const [{ createApp }, { serve }, { createMetrics }, { ensureOperator, firstSigninLink }] = await Promise.all([
      import('../../../main.ts'),
      import('../../http/server.ts'),
      import('../../http/metrics.ts'),
      import('../operator.ts'),
    ]);
    const metrics = createMetrics();
    const log = createLog(config.log_level);
    const telemetry = await startTelling(config, invocation.env, log, metrics);
    const app = await createApp({ config, clock: clockFrom(invocation.env), log, observe: metrics.observe, tracer: telemetry?.tracer });
    let server: RunningServer | undefined;
    const unmark = markClone();
    const stop = async () => {
      if (server) removeRunFile(config.home, server.instance);
      unmark();
      const deadline = performance.now() + STOP_MS;
      await server?.close();
      const left = deadline - performance.now();
      // The reaper process kills external servers that still run after this process has ended.
      const closed = Promise.all([app.close(left - STORE_MS), telemetry?.stop()]);
      // Do not wait longer for a database that does not answer, because all acknowledged writes are already on disk.
      await Promise.race([closed, pause(left)]);
    };
    const stopped = untilSignal(stop);
    let signin: string;
    try {
      await ensureOperator(app);
      server = await serve({ app, metrics });
      writeRunFile(config.home, { url: server.url, instance: server.instance, pid: process.pid });
      signin = `${server.url}${(await firstSigninLink(app)).path}`;
    } catch (error) {
      await stop();
      throw portInUse(error, config.port) ?? error;
    }

    if (invocation.json) invocation.out.result(JSON.stringify({ kind: 'ready', url: server.url, signin_url: signin, pid: process.pid }));
    else announce(invocation, app, server.url, signin, performance.now() - started);
    if (!invocation.json && !invocation.values['no-open']) openBrowser(signin, invocation.env);
    await stopped;
    // The server has already answered all calls in progress, so the process can end even if something still keeps it open.
    process.exit(0);
  },
};

async function startTelling(config: Config, env: NodeJS.ProcessEnv, log: Log, metrics: Metrics): Promise<Telemetry | undefined> {
  const { targets, problems } = telemetrySettings(config, env);
  for (const problem of problems) log.warn('telemetry setting ignored', { problem });
  if (targets.size === 0) return undefined;
  const { startTelemetry } = await import('../../telemetry/start.ts');
  return startTelemetry({ targets, env, log, metrics });
}

function announce(invocation: Invocation, app: App, url: string, signin: string, ms: number): void {
  const { out, env } = invocation;
  const isClone = env.npm_lifecycle_event !== undefined;
  const covenant = isClone ? 'npm exec -- covenant' : 'covenant';
  const companion = isClone ? `npm exec --prefix ${shellQuoted(PACKAGE_ROOT)} -- covibe-local` : 'covibe-local';
  out.result(
    [
      `covenant ${VERSION} · ${app.store.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, schema ${app.store.schemaVersion} · ${app.registry.tools().length} tools`,
      `Agents     MCP at ${url}/mcp. To connect an agent, run its command and paste the output:`,
      ...CLIENT_NAMES.map((client) => `             ${covenant} connect ${client}`),
      '           Or connect all agents of a repository, with hooks:',
      `             ${companion} setup --base-url ${shellQuoted(url)}`,
      `Dashboard  ${signin}  (works once, for 10 min)`,
      `Ready in ${(ms / 1000).toFixed(1)} s`,
    ].join('\n'),
  );
}

/** Runs `stop` on the first stop signal. The process also ends if `stop` takes too long. */
function untilSignal(stop: () => Promise<void>): Promise<void> {
  const GIVE_UP_MS = 4_800;
  return new Promise((resolve, reject) => {
    onStopSignal(() => {
      setTimeout(() => process.exit(1), GIVE_UP_MS).unref();
      stop().then(resolve, reject);
    });
  });
}

function portInUse(error: unknown, port: number): CliError | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE') return undefined;
  return new CliError('PORT_IN_USE', `Port ${port} is in use.`, `covenant up --port ${port + 1}, or stop the program that uses port ${port}`);
}

/** Marks the files of a clone as in use, so that the install step of the clone does not replace them while a server uses them. */
function markClone(): () => void {
  const folder = join(PACKAGE_ROOT, '.covenant-run');
  const file = join(folder, String(process.pid));
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, '');
  } catch {
    // An installed package may be read-only. That is no problem, because only a clone needs the mark.
  }
  return () => rmSync(file, { force: true });
}
