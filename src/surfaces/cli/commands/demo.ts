import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openBrowser } from '../browser.ts';
import { type Client, connectClient, findServer } from '../client.ts';
import { type CliCommand, CliError, type CommandResult, type Invocation, option, UsageError } from '../command.ts';
import { createNarrator } from './demo-narrator.ts';

const WORKSPACE = 'demo';

const demoCommand: CliCommand = {
  name: 'demo',
  local: true,
  summary:
    'Scripted agents work in a scratch repository and a workspace of their own, about two minutes, and leave nothing. --stay SECONDS: so much longer; --keep leaves the data for looking, --clean removes it; --pace SECONDS: between two steps.',
  options: {
    keep: { type: 'boolean' },
    pace: { type: 'string' },
    stay: { type: 'string' },
    clean: { type: 'boolean' },
    'no-open': { type: 'boolean' },
  },
  async run(invocation) {
    const ownServer = (await findServer(invocation.env)) === undefined ? await startServer(invocation) : undefined;
    const client = await connectClient(invocation.env, WORKSPACE);
    try {
      return invocation.values.clean ? await clean(client) : await show(invocation, client, ownServer === undefined);
    } finally {
      await client.close();
      await ownServer?.stop();
    }
  },
};

/** The parts of the demo that run as programs of their own. */
const demoPart: CliCommand = {
  name: 'demo-part',
  internal: true,
  local: true,
  summary: 'An agent, a worker or an external server of the demo.',
  positionals: ['agent|worker|server', '[FILE]'],
  async run({ env, positionals: [part, file = ''] }): Promise<never> {
    if (part === 'agent') return await (await import('../../demo-agents/programs.ts')).actAsAgent(env);
    if (part === 'worker') return await (await import('../../demo-agents/programs.ts')).workUntilKilled(env);
    if (part === 'server') return await (await import('../../demo-agents/server.ts')).serveTools(file);
    throw new UsageError(`there is no part ${JSON.stringify(part)} in the demo`);
  },
};

export const demoCommands: readonly CliCommand[] = [demoCommand, demoPart];

async function show(invocation: Invocation, client: Client, staysUp: boolean): Promise<CommandResult> {
  const { out, values, json } = invocation;
  const [{ STEPS, playDemo }, { clearStage }] = await Promise.all([import('../../demo-agents/run.ts'), import('../../demo-agents/clear.ts')]);
  const url = client.url ?? '';
  const action = (name: string, input?: Record<string, unknown>) => client.action(name, input);
  const keep = values.keep === true;
  const paceMs = secondsOf(invocation, 'pace', 3, 60);
  const stayMs = secondsOf(invocation, 'stay', 0, 600);
  const stop = new AbortController();
  const interrupt = () => stop.abort(new CliError('INTERRUPTED', 'The demo was interrupted; what it made was removed.', 'covenant demo'));
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  const narrator = createNarrator(out, { steps: STEPS, json });
  let signin = '';
  const opened = (link: string) => {
    signin = link;
    narrator.say(`Dashboard  ${link}  (one use, 10 min)`);
    if (!json && values['no-open'] !== true) openBrowser(link, invocation.env);
  };
  try {
    await playDemo({ url, action, signal: stop.signal, narrator, paceMs, stayMs }, opened);
  } catch (error) {
    // Nothing of another demo's is touched.
    const begun = !(error instanceof CliError && ['DEMO_RUNNING', 'DEMO_KEPT', 'WORKSPACE_TAKEN'].includes(error.code));
    if (begun) await clearStage(action, false).catch((left) => out.note(`${out.mark.wait} ${messageOf(left)}\n    next: covenant demo --clean`));
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    narrator.end();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
  const cleared = await clearStage(action, keep);
  const after = keep
    ? `Kept. ${staysUp ? '' : 'covenant up, then '}covenant open --workspace ${WORKSPACE} shows it again; covenant demo --clean removes it.`
    : `Removed: ${Number(cleared.removed_rows)} rows, the repository, the agents. The journal of the workspace stays.`;
  return { json: { kind: 'demo', steps: STEPS, signin_url: signin, ...cleared }, text: `${after} ${Number(cleared.revoked_tokens)} tokens revoked.` };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function clean(client: Client): Promise<CommandResult> {
  const { clearStage } = await import('../../demo-agents/clear.ts');
  const cleared = await clearStage((name, input) => client.action(name, input), false);
  return {
    json: { kind: 'demo', ...cleared },
    text: `Removed ${Number(cleared.removed_rows)} rows of the demo; ${Number(cleared.revoked_tokens)} tokens revoked.`,
  };
}

function secondsOf(invocation: Invocation, name: string, usual: number, most: number): number {
  const seconds = Number(option(invocation, name) ?? usual);
  if (!(seconds >= 0 && seconds <= most)) throw new UsageError(`--${name} takes seconds from 0 to ${most}`);
  return seconds * 1000;
}

/** Where no server of this home runs, one does for as long as the demo. */
async function startServer({ env, out }: Invocation): Promise<{ stop(): Promise<void> }> {
  // In a group of its own: Ctrl-C is for the demo, which needs its server to clear away.
  const child = spawn(process.execPath, [String(process.argv[1]), 'up', '--no-open', '--json'], { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  const exited = once(child, 'exit');
  const line = await Promise.race([once(createInterface({ input: child.stdout }), 'line').then(([first]) => String(first)), exited.then(() => undefined)]);
  const said = line === undefined ? {} : (JSON.parse(line) as { kind?: string; code?: string; message?: string; next?: string });
  if (said.kind !== 'ready') throw new CliError(said.code ?? 'NOT_RUNNING', said.message ?? 'The server did not start.', said.next ?? 'covenant up');
  out.note('No server of this home was running: one runs while the demo does.');
  return {
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
