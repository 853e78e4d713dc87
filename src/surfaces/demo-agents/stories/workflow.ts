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
  { name: 'Sign-in specification', after: [], files: ['docs/auth.md'] },
  { name: 'Session store', after: ['Sign-in specification'], group: 'server', files: ['src/session.ts'] },
  { name: 'Login route', after: ['Sign-in specification'], group: 'server', files: ['src/login.ts'] },
  { name: 'Rate limit', after: ['Login route'], group: 'server', files: ['src/limit.ts'] },
  { name: 'User migration', after: ['Session store'], group: 'database', files: ['db/schema.sql'] },
  { name: 'Drop legacy_sessions', after: ['User migration'], group: 'database', files: ['db/schema.sql'] },
  { name: 'Sign-in form', after: ['Sign-in specification'], group: 'client', files: ['web/sign-in.tsx'] },
  { name: 'Error messages', after: ['Sign-in form'], group: 'client', files: ['web/messages.ts'] },
  { name: 'Route tests', after: ['Login route', 'Rate limit'], group: 'checks', files: ['test/login.test.ts'] },
  { name: 'Form tests', after: ['Error messages'], group: 'checks', files: ['test/form.test.ts'] },
  { name: 'Release notes', after: ['Route tests', 'Form tests', 'Drop legacy_sessions'], files: ['CHANGELOG.md'] },
];

const SOURCE = {
  source_type: 'prompt',
  source_content: 'Rework sign-in: rotate session tokens at login, limit attempts to 10 per minute, and replace the form.',
};

/** Agents work on a plan of eleven tasks. One task fails, one waits for a person, and one is reclaimed from a killed worker. */
export const workflow: Story = { title: 'killed worker', steps: 3, tell };

async function tell(stage: Stage): Promise<void> {
  const { claude, codex, cursor } = stage.cast;
  const created = await claude.call('workflow_create', { name: 'auth-rework', ...SOURCE, repository_path: stage.repository, max_parallel_tasks: 4 });
  const id = text(created, 'id');
  await claude.call('workflow_set_plan', {
    id,
    plan: {
      summary: 'Rework sign-in on the server, in the database and in the client',
      approach: 'Session store and routes first, then the form. Drop the old table last.',
      tasks: TASKS.map(({ name, after, group, files }, sequence) => ({
        name,
        description: `${name}, as specified in docs/auth.md.`,
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

  await work(agents.claude, idOf('Sign-in specification'), 'docs/auth.md describes routes, tokens and limits.');
  await stage.beat();
  const victim = await killedWorker(stage, idOf('Session store'));
  stage.done(`worker killed (process ${victim.pid}) ${ARROW} its task waits until the lease expires`);
  await Promise.all([
    work(agents.codex, idOf('Login route'), 'POST /login returns a rotated token. The old token is refused.').then(() =>
      work(agents.codex, idOf('Rate limit'), '10 attempts per minute and account, then 429.'),
    ),
    work(agents.cursor, idOf('Sign-in form'), 'web/sign-in.tsx replaces the old form. Email and password on one page.'),
  ]);
  await stage.beat();
  await failing(agents.cursor, idOf('Error messages'));
  await stage.beat();
  await asking(agents.codex, id, idOf('Route tests'));
  const merged = {
    message_type: 'status_update',
    subject: 'Login routes are merged',
    body: 'POST /login and its rate limit are on main. Rebase before you continue.',
  };
  await claude.call('message_broadcast', { sender_id: agents.claude.id, ...merged, workflow_id: id });
  const query = {
    message_type: 'query',
    subject: 'Message for a locked account?',
    body: 'POST /login returns 423 for a locked account. The form shows the same text as for a wrong password.',
  };
  await codex.call('message_send', { sender_id: agents.codex.id, recipient_id: agents.cursor.id, ...query, workflow_id: id });
  stage.done(`one task waits for your answer, another failed`);

  await takeOver(stage, agents.claude, idOf('Session store'));
  stage.done(`lease expired after 90 s ${ARROW} task reclaimed, continued from its last checkpoint`);
  await work(agents.claude, idOf('User migration'), 'Migration 0007 applied: email and locale added, 1,204 users backfilled.');
}

async function enlist(stage: Stage, actor: Actor, runtime: string): Promise<Enlisted> {
  const { id } = await actor.call('agent_register', { name: actor.name, runtime, capabilities: ['typescript', 'sql'], workspace_path: stage.repository });
  stage.every(HEARTBEAT_MS, () => actor.call('agent_heartbeat', { agent_id: id }));
  return { actor, id: String(id) };
}

/** Starts a process that holds a task, then kills the process as a power failure would. */
async function killedWorker(stage: Stage, task: string) {
  const { gemini } = stage.cast;
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, DEMO_URL: stage.url, DEMO_TOKEN: gemini.token, DEMO_TASK: task };
  const child = spawn(process.execPath, [String(process.argv[1]), 'demo-part', 'worker'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  stage.atEnd.push(() => child.kill('SIGKILL'));
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the worker exited early with code ${code}`)));
  });
  child.kill('SIGKILL');
  return child;
}

async function failing(agent: Enlisted, task: string): Promise<void> {
  const claim = await claimAndStart(agent, task);
  const summary = 'Listed the 9 error messages of the old form.';
  await agent.actor.call('checkpoint_add', { task_id: task, type: 'progress', summary, files_changed: ['web/messages.ts'], ...claim });
  const error = 'npm cannot find @shop/messages: the package with the texts of the old form is not in the registry.';
  await agent.actor.call('task_update_status', { id: task, status: 'failed', error, ...claim });
}

async function asking(agent: Enlisted, workflow: string, task: string): Promise<void> {
  await claimAndStart(agent, task);
  await agent.actor.call('message_send', {
    sender_id: agent.id,
    recipient_id: 'human',
    message_type: 'query',
    subject: 'Drop legacy_sessions before the tests?',
    body: 'The plan drops legacy_sessions last, but the route tests need it gone. It still has 12 rows. Drop it now?',
    workflow_id: workflow,
    task_id: task,
    priority: 'high',
  });
}

const HEARTBEAT_MS = 30_000;
const LOOK_MS = 2_000;

/** Tries to claim the task until the server has released it, because the lease of the killed worker must expire first. Then completes the task. */
async function takeOver(stage: Stage, agent: Enlisted, task: string): Promise<void> {
  for (;;) {
    const claimed = await agent.actor.ask('task_claim', { task_id: task, agent_id: agent.id });
    if (claimed.success === true) {
      await agent.actor.call('task_load_context', { task_id: task });
      const claim = { agent_id: agent.id, fence: claimed.fence };
      const summary = 'Continued from the last checkpoint of gemini@li nightly.';
      await agent.actor.call('checkpoint_add', { task_id: task, type: 'recovery', summary, ...claim });
      await agent.actor.ask('task_update_status', { id: task, status: 'planning', ...claim });
      await agent.actor.ask('task_update_status', { id: task, status: 'in_progress', ...claim });
      await agent.actor.call('task_update_status', { id: task, status: 'completed', outcome: 'All 5 readers use table sessions.', ...claim });
      return;
    }
    await pause(LOOK_MS, undefined, { signal: stage.signal });
  }
}

interface Enlisted {
  readonly actor: Actor;
  readonly id: string;
}

interface DemoClaim {
  readonly agent_id: string;
  readonly fence: unknown;
}

/** Claims a task, plans it, and starts it. */
export async function claimAndStart({ actor, id }: Enlisted, task: string): Promise<DemoClaim> {
  const { fence } = await actor.call('task_claim', { task_id: task, agent_id: id });
  const claim = { agent_id: id, fence };
  await actor.call('task_update_status', { id: task, status: 'planning', ...claim });
  const plan = {
    approach: 'Keep the public API, change the implementation, add tests.',
    steps: ['Read the current code', 'Change the implementation', 'Add tests'],
  };
  await actor.call('task_set_plan', { id: task, plan, ...claim });
  await actor.call('task_update_status', { id: task, status: 'in_progress', ...claim });
  return claim;
}

/** Works on a task from the claim to the completion, and records checkpoints. */
async function work(agent: Enlisted, task: string, outcome: string): Promise<void> {
  const { actor } = agent;
  const claim = await claimAndStart(agent, task);
  const progress = { type: 'progress', summary: 'Implementation done, 3 tests added.', files_changed: ['src/login.ts'] };
  await actor.call('checkpoint_add', { task_id: task, ...progress, ...claim });
  await actor.call('checkpoint_add', { task_id: task, type: 'decision', summary: 'Keep the function signature, so that callers do not change.', ...claim });
  await actor.call('task_update_status', { id: task, status: 'completed', outcome, ...claim });
}
