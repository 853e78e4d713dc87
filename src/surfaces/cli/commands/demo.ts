import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openBrowser } from '../browser.ts';
import { type Client, connectClient, findServer } from '../client.ts';
import { type CliCommand, CliError, type CommandResult, type Invocation, option, UsageError } from '../command.ts';
import { createNarrator } from './demo-narrator.ts';

const WORKSPACE = 'demo';
const [PACE, MAX_PACE] = [3, 60];
const [STAY, MAX_STAY] = [0, 600];

export const demoCommand: CliCommand = {
  name: 'demo',
  local: true,
  summary: 'Watch scripted agents work together for two minutes.',
  description: 'The demo works in a temporary repository and in its own workspace, and removes its data at the end. If no server is running, it starts one.',
  options: {
    pace: { value: 'SECONDS', description: `The time between two steps, from 0 to ${MAX_PACE}.`, default: PACE },
    stay: { value: 'SECONDS', description: `The time that the demo waits before it cleans up, from 0 to ${MAX_STAY}.`, default: STAY },
    keep: { description: 'Do not remove the data at the end.' },
    clean: { description: 'Remove the data that an earlier demo kept because of `--keep`, and exit.' },
    'no-open': { description: 'Do not open the dashboard in the browser.' },
  },
  examples: ['demo', 'demo --pace 1 --keep', 'demo --clean'],
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

/** Starts one of the demo's separate processes. */
export const demoPart: CliCommand = {
  name: 'demo-part',
  hidden: true,
  local: true,
  summary: 'Run one part of the demo.',
  arguments: [
    { name: 'PART', description: 'The part.', choices: ['agent', 'worker', 'server'] },
    { name: 'FILE', description: 'The file that makes the server change a tool.', optional: true },
  ],
  examples: ['demo-part agent'],
  async run({ env, positionals: [part, file = ''] }): Promise<never> {
    if (part === 'agent') return await (await import('../../demo-agents/programs.ts')).actAsAgent(env);
    if (part === 'worker') return await (await import('../../demo-agents/programs.ts')).workUntilKilled(env);
    if (part === 'server') return await (await import('../../demo-agents/server.ts')).serveTools(file);
    throw new UsageError(`\`PART\` must be agent, worker or server, not ${JSON.stringify(part)}`);
  },
};

async function show(invocation: Invocation, client: Client, staysUp: boolean): Promise<CommandResult> {
  const { out, values, json } = invocation;
  const [{ STEPS, playDemo }, { clearStage }] = await Promise.all([import('../../demo-agents/run.ts'), import('../../demo-agents/clear.ts')]);
  const url = client.url ?? '';
  const action = (name: string, input?: Record<string, unknown>) => client.action(name, input);
  const keep = values.keep === true;
  const paceMs = secondsOf(invocation, 'pace', PACE, MAX_PACE);
  const stayMs = secondsOf(invocation, 'stay', STAY, MAX_STAY);
  const stop = new AbortController();
  const interrupt = () => stop.abort(new CliError('INTERRUPTED', 'The demo was interrupted. Its data was removed.', 'covenant demo'));
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  const narrator = createNarrator(out, { steps: STEPS, json });
  let signin = '';
  const opened = (link: string) => {
    signin = link;
    narrator.say(`Dashboard  ${link}  (works once, for 10 min)`);
    if (!json && values['no-open'] !== true) openBrowser(link, invocation.env);
  };
  try {
    await playDemo({ url, action, signal: stop.signal, narrator, paceMs, stayMs }, opened);
  } catch (error) {
    // If this demo did not start, nothing is removed, because the existing data belongs to another demo.
    const begun = !(error instanceof CliError && ['DEMO_RUNNING', 'DEMO_KEPT', 'WORKSPACE_TAKEN'].includes(error.code));
    if (begun) await clearStage(action, false).catch((left) => out.note(`${out.mark.wait} ${messageOf(left)}\n    next: covenant demo --clean`));
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    narrator.end();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
  const cleared = await clearStage(action, keep);
  const after = keep
    ? `The data was kept. To see it: ${staysUp ? '' : 'covenant up, then '}covenant open --workspace ${WORKSPACE}. To remove the data: covenant demo --clean.`
    : `Removed ${Number(cleared.removed_rows)} rows, the repository and the agents. The journal of the workspace stays.`;
  return { json: { kind: 'demo', steps: STEPS, signin_url: signin, ...cleared }, text: `${after} ${Number(cleared.revoked_tokens)} tokens revoked.` };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function clean(client: Client): Promise<CommandResult> {
  const { clearStage } = await import('../../demo-agents/clear.ts');
  const cleared = await clearStage((name, input) => client.action(name, input), false);
  return {
    json: { kind: 'demo', ...cleared },
    text: `Removed ${Number(cleared.removed_rows)} rows of the demo. ${Number(cleared.revoked_tokens)} tokens revoked.`,
  };
}

function secondsOf(invocation: Invocation, name: string, usual: number, most: number): number {
  const seconds = Number(option(invocation, name) ?? usual);
  if (!(seconds >= 0 && seconds <= most)) throw new UsageError(`\`--${name}\` must be a number of seconds from 0 to ${most}, for example --${name} ${usual}`);
  return seconds * 1000;
}

/** Starts a server that runs until the demo ends. Called if no server of this home is running. */
async function startServer({ env, out }: Invocation): Promise<{ stop(): Promise<void> }> {
  // The server gets its own process group, so that Ctrl-C does not stop it. The demo still needs the server to clean up.
  const child = spawn(process.execPath, [String(process.argv[1]), 'up', '--no-open', '--json'], { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  const exited = once(child, 'exit');
  const line = await Promise.race([once(createInterface({ input: child.stdout }), 'line').then(([first]) => String(first)), exited.then(() => undefined)]);
  const said = line === undefined ? {} : (JSON.parse(line) as { kind?: string; code?: string; message?: string; next?: string });
  if (said.kind !== 'ready') throw new CliError(said.code ?? 'NOT_RUNNING', said.message ?? 'The server did not start.', said.next ?? 'covenant up');
  out.note('No server of this home was running. The demo starts one and stops it at the end.');
  return {
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
