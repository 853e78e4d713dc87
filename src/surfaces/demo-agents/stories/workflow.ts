import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { type Actor, ARROW, type DemoAnswer, type Stage, type Story, text } from '../stage.ts';

interface Planned {
  readonly name: string;
  readonly after: readonly string[];
  readonly group?: string;
  readonly files: readonly string[];
}

const TASKS: readonly Planned[] = [
  { name: 'Describe the new sign-in', after: [], files: ['docs/sign-in.md'] },
  { name: 'Session store', after: ['Describe the new sign-in'], group: 'server', files: ['src/session.ts'] },
  { name: 'Login route', after: ['Describe the new sign-in'], group: 'server', files: ['src/login.ts'] },
  { name: 'Rate limit', after: ['Login route'], group: 'server', files: ['src/limit.ts'] },
  { name: 'Migration of users', after: ['Session store'], group: 'database', files: ['db/schema.sql'] },
  { name: 'Drop the legacy table', after: ['Migration of users'], group: 'database', files: ['db/schema.sql'] },
  { name: 'Sign-in form', after: ['Describe the new sign-in'], group: 'client', files: ['web/sign-in.tsx'] },
  { name: 'Messages of errors', after: ['Sign-in form'], group: 'client', files: ['web/messages.ts'] },
  { name: 'Tests of the routes', after: ['Login route', 'Rate limit'], group: 'checks', files: ['test/login.test.ts'] },
  { name: 'Tests of the form', after: ['Messages of errors'], group: 'checks', files: ['test/form.test.ts'] },
  { name: 'Release notes', after: ['Tests of the routes', 'Tests of the form', 'Drop the legacy table'], files: ['CHANGELOG.md'] },
];

const SOURCE = { source_type: 'prompt', source_content: 'Rework how people sign in: rotating tokens, limits, a better form.' };

/** A plan of eleven tasks: some are done, one fails, one waits for a person, and one is taken over from a worker that was killed. */
export const workflow: Story = { title: 'a worker that is killed', steps: 3, tell };

async function tell(stage: Stage): Promise<void> {
  const { claude, codex, cursor } = stage.cast;
  const created = await claude.call('workflow_create', { name: 'auth-rework', ...SOURCE, repository_path: stage.repository, max_parallel_tasks: 4 });
  const id = text(created, 'id');
  await claude.call('workflow_set_plan', {
    id,
    plan: {
      summary: 'Sign-in in four parts',
      approach: 'Store and routes first, then the form; the old table goes last.',
      tasks: TASKS.map(({ name, after, group, files }, sequence) => ({
        name,
        description: `${name}, as the plan of auth-rework has it.`,
        sequence,
        depends_on: after,
        files_likely_affected: files,
        ...(group && { parallel_group: group }),
      })),
    },
  });
  await claude.call('workflow_update_status', { id, status: 'in_progress' });
  const { tasks } = (await claude.call('workflow_get', { id, include_tasks: true })) as { tasks: DemoAnswer[] };
  const idOf = (name: string) => text(tasks.find((task) => task.name === name) ?? {}, 'id');
  const agents = {
    claude: await enlist(stage, claude, 'claude_code'),
    codex: await enlist(stage, codex, 'codex'),
    cursor: await enlist(stage, cursor, 'cursor'),
  };

  await work(agents.claude, idOf('Describe the new sign-in'), 'One page: what changes, and for whom.');
  await stage.beat();
  const victim = await killedWorker(stage, idOf('Session store'));
  stage.done(`worker killed (process ${victim.pid}) ${ARROW} its task waits for its lease to end`);
  await Promise.all([
    work(agents.codex, idOf('Login route'), 'POST /login answers with a rotated token.').then(() =>
      work(agents.codex, idOf('Rate limit'), 'Ten attempts a minute.'),
    ),
    work(agents.cursor, idOf('Sign-in form'), 'One field more, one click less.'),
  ]);
  await stage.beat();
  await failing(agents.cursor, idOf('Messages of errors'));
  await stage.beat();
  await asking(agents.codex, id, idOf('Tests of the routes'));
  const merged = { message_type: 'status_update', subject: 'Routes are done', body: 'Login and its limit are merged.' };
  await claude.call('message_broadcast', { sender_id: agents.claude.id, ...merged, workflow_id: id });
  const query = { message_type: 'query', subject: 'Which message for a locked account?', body: 'The form shows one text for both.' };
  await codex.call('message_send', { sender_id: agents.codex.id, recipient_id: agents.cursor.id, ...query, workflow_id: id });
  stage.done(`a task waits for a person's answer, another has failed`);

  await takeOver(stage, agents.claude, idOf('Session store'));
  stage.done(`silence of 90 s ${ARROW} task reclaimed, taken up at its last checkpoint`);
  await work(agents.claude, idOf('Migration of users'), 'Users have their new columns.');
}

async function enlist(stage: Stage, actor: Actor, runtime: string): Promise<Enlisted> {
  const { id } = await actor.call('agent_register', { name: actor.name, runtime, capabilities: ['typescript', 'sql'], workspace_path: stage.repository });
  stage.every(HEARTBEAT_MS, () => actor.call('agent_heartbeat', { agent_id: id }));
  return { actor, id: String(id) };
}

/** A process of its own that holds a task, and ends as a cut of power ends it. */
async function killedWorker(stage: Stage, task: string) {
  const { gemini } = stage.cast;
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, DEMO_URL: stage.url, DEMO_TOKEN: gemini.token, DEMO_TASK: task };
  const child = spawn(process.execPath, [String(process.argv[1]), 'demo-part', 'worker'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  stage.atEnd.push(() => child.kill('SIGKILL'));
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the worker ended by itself with ${code}`)));
  });
  child.kill('SIGKILL');
  return child;
}

async function failing(agent: Enlisted, task: string): Promise<void> {
  const claim = await claimAndStart(agent, task);
  const summary = 'Collected the messages of the old form.';
  await agent.actor.call('checkpoint_add', { task_id: task, type: 'progress', summary, files_changed: ['web/messages.ts'], ...claim });
  const error = 'The texts of the old form are in a package that is not there.';
  await agent.actor.call('task_update_status', { id: task, status: 'failed', error, ...claim });
}

async function asking(agent: Enlisted, workflow: string, task: string): Promise<void> {
  await claimAndStart(agent, task);
  await agent.actor.call('message_send', {
    sender_id: agent.id,
    recipient_id: 'human',
    message_type: 'query',
    subject: 'May the tests drop the legacy table?',
    body: 'legacy_sessions has 12 rows. The plan drops it at the end; the tests would have to do it now.',
    workflow_id: workflow,
    task_id: task,
    priority: 'high',
  });
}

const HEARTBEAT_MS = 30_000;
const LOOK_MS = 2_000;

/** The server gives the task back once its worker was silent for too long; whoever asks then has it. */
async function takeOver(stage: Stage, agent: Enlisted, task: string): Promise<void> {
  for (;;) {
    const claimed = await agent.actor.ask('task_claim', { task_id: task, agent_id: agent.id });
    if (claimed.success === true) {
      await agent.actor.call('task_load_context', { task_id: task });
      const claim = { agent_id: agent.id, fence: claimed.fence };
      const summary = 'Went on from the last checkpoint of the worker that was lost.';
      await agent.actor.call('checkpoint_add', { task_id: task, type: 'recovery', summary, ...claim });
      await agent.actor.ask('task_update_status', { id: task, status: 'planning', ...claim });
      await agent.actor.ask('task_update_status', { id: task, status: 'in_progress', ...claim });
      await agent.actor.call('task_update_status', { id: task, status: 'completed', outcome: 'Sessions are in a table of their own.', ...claim });
      return;
    }
    await pause(LOOK_MS, undefined, { signal: stage.signal });
  }
}

/** An agent of a workflow. */
interface Enlisted {
  readonly actor: Actor;
  readonly id: string;
}

interface DemoClaim {
  readonly agent_id: string;
  readonly fence: unknown;
}

/** Claims a task and plans it, until it is in progress. */
export async function claimAndStart({ actor, id }: Enlisted, task: string): Promise<DemoClaim> {
  const { fence } = await actor.call('task_claim', { task_id: task, agent_id: id });
  const claim = { agent_id: id, fence };
  await actor.call('task_update_status', { id: task, status: 'planning', ...claim });
  const plan = { approach: 'Read what is there, change one place, test it.', steps: ['Read', 'Change', 'Test'] };
  await actor.call('task_set_plan', { id: task, plan, ...claim });
  await actor.call('task_update_status', { id: task, status: 'in_progress', ...claim });
  return claim;
}

/** A task from claim to completion, with what a careful agent leaves behind. */
async function work(agent: Enlisted, task: string, outcome: string): Promise<void> {
  const { actor } = agent;
  const claim = await claimAndStart(agent, task);
  const progress = { type: 'progress', summary: 'Read what is there; changed it in one place.', files_changed: ['src/login.ts'] };
  await actor.call('checkpoint_add', { task_id: task, ...progress, ...claim });
  await actor.call('checkpoint_add', { task_id: task, type: 'decision', summary: 'Kept the signature, so that callers stay as they are.', ...claim });
  await actor.call('task_update_status', { id: task, status: 'completed', outcome, ...claim });
}
