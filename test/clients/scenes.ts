import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ModelRequest, Step } from './models/model.ts';
import { run } from './process.ts';
import { type AgentRun, type Program, runAgent, SECRET } from './programs/program.ts';
import { BEFORE, FILE, openWorkplace, REPO, type Workplace } from './workplace.ts';

interface Furnishing {
  /** How the hooks of Claude Code reach the server. By default, setup chooses. */
  readonly hooks?: 'http' | 'command';
  /** If true, edits are blocked while the server cannot be reached. */
  readonly failClosed?: boolean;
  /** If true, the environment contains no token, so that setup requests one and a person approves it. */
  readonly device?: boolean;
}

/** Prepares a machine on which a person has run setup for the client. */
export async function furnished(program: Program, { hooks, failClosed = false, device = false }: Furnishing = {}): Promise<Workplace> {
  const workplace = await openWorkplace(program.name, { token: !device });
  const { t, repo, env } = workplace;
  program.settle(workplace);
  if (failClosed) await t.done('settings.set', { key: 'hooks.fail_closed', value: 1 });
  const args = ['setup', '--base-url', workplace.url, '--no-service', '--agents', program.name, ...(hooks ? ['--hooks', hooks] : [])];
  const approve = (piece: string) => {
    const code = /Code (\S+)/.exec(piece)?.[1];
    if (code) void t.done('devices.approve', { code, developer: 'ana' });
  };
  const { code, output } = await run('covibe-local', args, { cwd: repo.path, env, heard: approve });
  if (code !== 0) throw new Error(`covibe-local ${args.join(' ')}:\n${output}`);
  return workplace;
}

/** Returns the id in the answer of the last tool call. */
const idIn = ({ results }: ModelRequest, prefix: string): string => {
  const id = new RegExp(`${prefix}_[0-9A-Z]{26}`).exec(results.at(-1) ?? '')?.[0];
  if (!id) throw new Error(`no id ${prefix}_ in: ${results.at(-1)}`);
  return id;
};

const WORK = { title: 'Sort the basket', task_type: 'feature', scope: 'Sort the lines of the basket by price', target_files: [FILE] };

/**
 * Lets the agent check, start and complete a task with the client's own tool loop, with a heartbeat in between. The server must then list the task as
 * completed by this agent.
 */
export async function completesATask(program: Program, workplace: Workplace, server?: string): Promise<AgentRun> {
  let task = '';
  const ran = await runAgent(program, workplace, [
    program.ours('covibe_task', { operation: 'check', ...WORK }, server),
    program.ours('covibe_task', { operation: 'start', ...WORK }, server),
    {
      ...program.ours('covibe_session', { operation: 'heartbeat' }, server),
      first: (told) => {
        task = idIn(told, 'task');
      },
    },
    program.ours('covibe_task', () => ({ operation: 'complete', task_id: task, result_summary: 'The basket is sorted.' }), server),
    { say: 'Sorted.' },
  ]);
  const row = await workplace.t.app.store.reader.selectFrom('tasks').selectAll().where('id', '=', task).executeTakeFirst();
  expect(row, ran.output).toMatchObject({
    status: 'completed',
    actor: workplace.agent.principal.actor,
    title: WORK.title,
    result_summary: 'The basket is sorted.',
  });
  return ran;
}

const AFTER = `export const basket = ["${SECRET}"];`;
const REASON = 'Moving the basket to its own module';

/**
 * Checks that an edit is denied if another agent has claimed the file, and that the model receives the reason. After the file is free again, the same edit
 * must succeed.
 */
export async function isDeniedAnEdit(program: Program, workplace: Workplace): Promise<void> {
  const { t } = workplace;
  const claim = await t.call('covibe_coordination', 'claim', { repo: REPO, paths: ['src/**'], reason: REASON }, t.ben);
  const [first, ...rest] = program.edit(workplace, FILE, BEFORE, AFTER);
  if (!first) throw new Error('no way to edit');
  const denied = { file: '', told: '' };
  const free: Step['first'] = async ({ results }) => {
    Object.assign(denied, { file: workplace.read(FILE), told: results.at(-1) });
    await t.call('covibe_coordination', 'release', { claim_id: claim.data.claim_id }, t.ben);
  };
  const ran = await runAgent(program, workplace, [first, ...rest, { ...first, first: free }, ...rest, { say: `Edited: ${SECRET}.` }]);
  expect(denied.file, ran.output).toBe(`${BEFORE}\n`);
  expect(denied.told, ran.output).toContain('ben');
  expect(denied.told, ran.output).toContain(REASON);
  expect(denied.told, ran.output).toContain('covibe_coordination');
  expect(workplace.read(FILE), ran.output).toBe(`${AFTER}\n`);
  expectKeptToItself(workplace);
}

/** Checks that the store, the log and the companion's files contain no text from prompts, answers or edits. */
function expectKeptToItself({ t, home }: Workplace): void {
  const files = [t.database.home, join(home, '.covibe')].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])),
  );
  expect(files.length).toBeGreaterThan(1);
  expect(files.filter((file) => readFileSync(file, 'latin1').includes(SECRET))).toEqual([]);
  expect(t.logged.filter((line) => line.includes(SECRET))).toEqual([]);
}

/** Checks that an agent can edit files that its own developer has claimed, even in another session. */
export async function editsWhatItClaimed(program: Program, workplace: Workplace): Promise<void> {
  const claim = { operation: 'claim', repo: REPO, paths: [FILE] };
  const ran = await runAgent(program, workplace, [
    program.ours('covibe_session', { operation: 'start', agent_name: 'basket', repo: REPO }),
    program.ours('covibe_coordination', (told) => ({ ...claim, session_id: idIn(told, 'ses') })),
    ...program.edit(workplace, FILE, BEFORE, AFTER),
    { say: 'Edited.' },
  ]);
  expect((await workplace.t.events({ kind: 'claim.made' })).length, ran.output).toBe(1);
  expect(workplace.read(FILE), ran.output).toBe(`${AFTER}\n`);
}

/** Checks that both tools and hooks can use a token that exists only in `~/.covibe/credentials.json`. */
export async function worksWithItsStoredToken(program: Program): Promise<void> {
  const workplace = await furnished(program, { device: true });
  await completesATask(program, workplace);
  await isDeniedAnEdit(program, workplace);
}

/** Checks that the agent continues if the server is stopped, except if the workspace blocks edits in that case. */
export async function losesTheServer(program: Program, failClosed: boolean): Promise<void> {
  const workplace = await furnished(program, { failClosed });
  const [work, ...rest] = program.edit(workplace, FILE, BEFORE, AFTER);
  if (!work) throw new Error('no way to edit');
  const ran = await runAgent(program, workplace, [
    program.ours('covibe_task', { operation: 'check', ...WORK }),
    { ...work, first: () => workplace.stopServer() },
    ...rest,
    { say: 'Edited.' },
  ]);
  expect(workplace.read(FILE), ran.output).toBe(`${failClosed ? BEFORE : AFTER}\n`);
  if (failClosed) expect(ran.model.turns.at(-1)?.added, ran.output).toContain('covenant up');
}

/** Sends a question while the agent works. The model must receive it with the answer of its next tool call, and the sender must see that it was delivered. */
export async function hearsAnAsk(program: Program, workplace: Workplace): Promise<void> {
  const { t } = workplace;
  const question = 'Does the basket keep its order?';
  let asked = '';
  const meanwhile = async () => {
    asked = (await t.call('covibe_coordination', 'ask', { to: 'ana', message: question }, t.ben)).data.ask_id;
  };
  const [work, ...rest] = program.edit(workplace, FILE, BEFORE, AFTER);
  if (!work) throw new Error('no tool to call');
  const ran = await runAgent(program, workplace, [{ ...work, first: meanwhile }, ...rest, { say: 'Heard.' }]);
  expect(ran.model.turns[1]?.added, ran.output).toContain(question);
  expect(ran.model.turns[1]?.added, ran.output).toContain(asked);
  expect(
    (await t.events({ kind: 'ask.delivered' })).map(({ subject, actor }) => ({ subject, actor })),
    ran.output,
  ).toEqual([{ subject: asked, actor: workplace.agent.principal.actor }]);
}

/** Checks that the agent has one session from the start of its program to its end, and that the model receives the id of the session. */
export async function hasASession(program: Program, workplace: Workplace): Promise<void> {
  let during: { id: string; ended_at: number | null }[] = [];
  const sessions = () => workplace.t.app.store.reader.selectFrom('agent_sessions').selectAll().execute();
  const ran = await runAgent(program, workplace, [
    {
      ...program.ours('covibe_session', { operation: 'heartbeat' }),
      first: async () => {
        during = await sessions();
      },
    },
    { say: 'Done.' },
  ]);
  expect(during, ran.output).toMatchObject([{ agent_type: program.name, ended_at: null }]);
  expect(ran.model.turns[0]?.pieces.join('\n').includes(during[0]?.id ?? ''), `the model knows its session\n${ran.output}`).toBe(true);
  const after = await sessions();
  expect(after, ran.output).toMatchObject([{ id: during[0]?.id }]);
  expect(after[0]?.ended_at, ran.output).not.toBeNull();
}

/** Checks that an agent is reminded once if it tries to stop with an open task and a changed file. */
export async function isRemindedAtStop(program: Program, workplace: Workplace): Promise<void> {
  const steps = [
    program.ours('covibe_task', { operation: 'check', ...WORK }),
    program.ours('covibe_task', { operation: 'start', ...WORK }),
    ...program.edit(workplace, FILE, BEFORE, AFTER),
    { say: 'I have sorted it.' },
    { say: 'It stays open until tomorrow.' },
  ];
  const ran = await runAgent(program, workplace, steps);
  expect(ran.model.turns.length, ran.output).toBe(steps.length);
  const told = ran.model.turns.at(-1)?.added;
  expect(told, ran.output).toContain(WORK.title);
  expect(told, ran.output).toContain(`not committed: ${FILE}`);
}

/** Checks that an agent still knows its task after its conversation was replaced by a summary, which is empty in this test. */
export async function recoversFromCompaction(program: Program, workplace: Workplace): Promise<void> {
  const ran = await runAgent(program, workplace, [
    program.ours('covibe_task', { operation: 'check', ...WORK }),
    program.ours('covibe_task', { operation: 'start', ...WORK }),
    { ...program.ours('covibe_session', { operation: 'heartbeat' }), tokens: 150_000 },
    program.ours('covibe_session', { operation: 'heartbeat' }),
    { say: 'Done.' },
  ]);
  const shortened = ran.model.turns[3];
  expect(shortened?.results.length, ran.output).toBeLessThan(3);
  expect(shortened?.added, ran.output).toMatch(new RegExp(`task_\\w{26}.*${WORK.title}`));
}
