import { expect, test } from 'vitest';
import { covenant, direct, type Environment, startProgram } from '../../src/testing/programs/program.ts';
import { patience } from '../../src/testing/runs.ts';
import { temporaryDatabase, temporaryFolder } from '../../src/testing/store/database.ts';

const AGENTS = 64;
/** The full test has 2,000 tasks, as the product promises. `npm test` uses a smaller graph of the same kind. */
const LAYERS = process.env.COVENANT_PROVE === '1' ? 40 : 12;
const WIDTH = 50;
const TASKS = LAYERS * WIDTH;
/** After this many completed tasks, one of the two servers is killed. */
const KILLED_AT = Math.floor(TASKS / 3);

interface Exported {
  kind: string;
  subject: string;
  payload: { to?: string; agent_id?: string; fence?: number };
}

/** A graph in which many agents can work at the same time. Each task depends on three tasks of the previous layer. */
const graph = Array.from({ length: TASKS }, (_, at) => {
  const [layer, column] = [Math.floor(at / WIDTH), at % WIDTH];
  const before = layer === 0 ? [] : [0, 1, 7].map((shift) => `task ${layer - 1}.${(column + shift) % WIDTH}`);
  return { name: `task ${layer}.${column}`, description: '', sequence: layer, parallel_group: `layer ${layer}`, depends_on: before };
});

/** Each agent starts with a different task. Otherwise all of them would try to claim the same one. */
async function firstFree(tasks: readonly { id: string }[], number: number, claim: (id: string) => Promise<Record<string, unknown>>) {
  for (let at = 0; at < Math.min(tasks.length, 8); at++) {
    const { id } = tasks[(number * 31 + at) % tasks.length] as { id: string };
    const { success, fence } = await claim(id);
    if (success) return { task_id: id, fence };
  }
  return undefined;
}

test(`64 agents on two servers and one PostgreSQL finish a graph of ${TASKS} tasks, each exactly once, although one server is killed midway`, {
  timeout: patience(180_000),
}, async () => {
  const { home, url } = await temporaryDatabase('postgres');
  const first: Environment = { home, env: { DATABASE_URL: url as string } };
  const second: Environment = { home: temporaryFolder(), env: { DATABASE_URL: url as string } };
  const servers = [await startProgram(first), await startProgram(second)] as const;
  let victimIsUp = true;

  const tokens = await Promise.all(
    ['ana', 'ben', 'cem', 'dee'].map(async (name) => String((await covenant(second, 'tokens', 'create', '--developer', name, '--json')).json.token)),
  );
  const ask = async (server: number, token: string, tool: string, args: Record<string, unknown>) => {
    const { status, body } = await direct((servers[server] as (typeof servers)[0]).url, token, tool, args);
    if (status !== 200) throw new Error(`${tool}: HTTP ${status}`);
    return body;
  };
  const survivor = (tool: string, args: Record<string, unknown>) => ask(1, tokens[0] as string, tool, args);
  const made = await survivor('workflow_create', {
    name: 'Big',
    source_type: 'prompt',
    source_content: '',
    repository_path: '/srv/app',
    max_parallel_tasks: AGENTS,
  });
  const workflow_id = String(made.id);
  expect(await survivor('workflow_set_plan', { id: workflow_id, plan: { summary: 'Big', approach: 'Layers', tasks: graph } })).toMatchObject({
    tasks_created: TASKS,
  });

  const claims = new Map<string, string>();
  const completed = new Map<string, string>();
  /** Works as an agent. If its server has died, it repeats the same call on the other server. */
  const agent = async (number: number): Promise<void> => {
    const token = tokens[number % tokens.length] as string;
    let server = number % 2;
    const call = async (tool: string, args: Record<string, unknown>): Promise<Record<string, unknown>> => {
      for (;;) {
        try {
          return await ask(server, token, tool, args);
        } catch (error) {
          if (server === 1 || victimIsUp) throw error;
          server = 1;
        }
      }
    };
    const { id } = await call('agent_register', { name: `agent ${number}`, runtime: 'custom' });
    const agent_id = String(id);
    for (;;) {
      const { tasks } = (await call('task_get_available', { agent_id, workflow_id, limit: AGENTS })) as { tasks: { id: string }[] };
      if (tasks.length === 0) {
        if ((await call('workflow_progress', { workflow_id })).all_complete) return;
        continue;
      }
      const claimed = await firstFree(tasks, number, (task_id) => call('task_claim', { task_id, agent_id }));
      if (!claimed) continue;
      const { task_id, fence } = claimed;
      claims.set(`${task_id}/${fence}`, agent_id);
      const write = { id: task_id, agent_id, fence };
      for (const change of [{ status: 'planning' }, { status: 'in_progress' }, { status: 'completed', outcome: `by ${agent_id}` }]) {
        expect(await call('task_update_status', { ...write, ...change })).toMatchObject({ success: true });
      }
      completed.set(task_id, agent_id);
      if (completed.size === KILLED_AT) {
        victimIsUp = false;
        servers[0].child.kill('SIGKILL');
      }
    }
  };
  await Promise.all(Array.from({ length: AGENTS }, (_, number) => agent(number)));

  expect(await survivor('workflow_progress', { workflow_id })).toMatchObject({ total_tasks: TASKS, by_status: { completed: TASKS }, all_complete: true });
  expect(completed.size).toBe(TASKS);
  const events = (await covenant(second, 'audit', 'export', '--json')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Exported);
  const completions = events
    .filter(({ kind, payload }) => kind === 'workflow.task_status_changed' && payload.to === 'completed')
    .map(({ subject, payload }) => [subject, payload.agent_id] as const);
  expect(completions.length).toBe(TASKS);
  expect(new Map(completions)).toEqual(completed);
  const journaled = new Map(
    events.filter(({ kind }) => kind === 'workflow.task_claimed').map(({ subject, payload }) => [`${subject}/${payload.fence}`, payload.agent_id]),
  );
  expect([...claims].filter(([claim, holder]) => journaled.get(claim) !== holder)).toEqual([]);
  expect(await covenant(second, 'audit', 'verify')).toMatchObject({ code: 0 });
});
