import { expect } from 'vitest';
import { type TestApp, type TestAppOptions, type TestCaller, testApp } from '../app.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what it finds
export type Body = any;

/** A task for a plan, given as its name or with several fields. */
export type PlannedWords = string | { name: string; [field: string]: unknown };

export interface PlannedOptions {
  readonly caller?: TestCaller;
  /** Fields for workflow_create. By default, many tasks may be claimed at the same time. */
  readonly workflow?: Readonly<Record<string, unknown>>;
  /** Fields of the plan other than its tasks. */
  readonly plan?: Readonly<Record<string, unknown>>;
}

export interface Planned {
  readonly workflow_id: string;
  /** The tasks' ids, by name. */
  readonly ids: Readonly<Record<string, string>>;
}

export interface Held {
  readonly task_id: string;
  readonly agent_id: string;
  readonly fence: number;
}

export interface WorkflowApp extends TestApp {
  readonly ana: TestCaller;
  readonly ben: TestCaller;
  /** Makes a call that must succeed, and returns its answer. */
  ok(tool: string, args: object, caller?: TestCaller): Promise<Body>;
  /** Makes a call that must be refused, and returns the refusal. */
  refused(tool: string, args: object, caller?: TestCaller): Promise<Body>;
  /** Registers a new agent, and returns its id. */
  agent(caller?: TestCaller, args?: object): Promise<string>;
  /** Creates a workflow with this plan, so that its tasks can be claimed. */
  planned(tasks: readonly PlannedWords[], options?: PlannedOptions): Promise<Planned>;
  /** Claims the task for this agent, or for a new one. */
  claimed(taskId: string, caller?: TestCaller, agentId?: string): Promise<Held>;
  /** Claims the task and sets it in progress. */
  started(taskId: string, caller?: TestCaller, agentId?: string): Promise<Held>;
  /** Claims the task, works on it and completes it. */
  completed(taskId: string, caller?: TestCaller, agentId?: string): Promise<Held>;
  task(taskId: string): Promise<Body>;
}

/** The whole product with two developers, Ana and Ben. By default, calls are made by Ana. */
export async function workflowApp(options: TestAppOptions = {}): Promise<WorkflowApp> {
  const app = await testApp(options);
  const ana = await app.developer('ana');
  const ben = await app.developer('ben');
  const call = async (tool: string, args: object, caller: TestCaller, isError: boolean): Promise<Body> => {
    const answer = await app.tool(tool, args, caller);
    expect(answer.isError, `${tool} ${JSON.stringify(args)} answered ${JSON.stringify(answer.body)}`).toBe(isError);
    return answer.body;
  };
  const ok: WorkflowApp['ok'] = (tool, args, caller = ana) => call(tool, args, caller, false);
  const agent: WorkflowApp['agent'] = async (caller = ana, args = {}) =>
    (await ok('agent_register', { name: 'worker', runtime: 'claude_code', ...args }, caller)).id;
  const claimed: WorkflowApp['claimed'] = async (taskId, caller = ana, agentId) => {
    const agent_id = agentId ?? (await agent(caller));
    const answer = await ok('task_claim', { task_id: taskId, agent_id }, caller);
    expect(answer.success, `task_claim answered ${JSON.stringify(answer)}`).toBe(true);
    return { task_id: taskId, agent_id, fence: answer.fence };
  };
  const started: WorkflowApp['started'] = async (taskId, caller, agentId) => {
    const held = await claimed(taskId, caller, agentId);
    for (const status of ['planning', 'in_progress']) await ok('task_update_status', { id: taskId, status, agent_id: held.agent_id }, caller);
    return held;
  };
  return {
    ...app,
    ana,
    ben,
    ok,
    refused: (tool, args, caller = ana) => call(tool, args, caller, true),
    agent,
    async planned(tasks, { caller = ana, workflow = {}, plan = {} } = {}) {
      const create = { name: 'Ship it', source_type: 'prompt', source_content: 'Please ship it.', repository_path: '/srv/app', max_parallel_tasks: 100 };
      const { id } = await ok('workflow_create', { ...create, ...workflow }, caller);
      const words = tasks.map((task, index) => ({ description: '', sequence: index + 1, ...(typeof task === 'string' ? { name: task } : task) }));
      await ok('workflow_set_plan', { id, plan: { summary: 'What to do', approach: 'Step by step', ...plan, tasks: words } }, caller);
      const rows = await app.app.store.reader.selectFrom('workflow_tasks').select(['id', 'name']).where('workflow_id', '=', id).execute();
      return { workflow_id: id, ids: Object.fromEntries(rows.map((row) => [row.name, row.id])) };
    },
    claimed,
    started,
    async completed(taskId, caller, agentId) {
      const held = await started(taskId, caller, agentId);
      await ok('task_update_status', { id: taskId, status: 'completed', outcome: 'done', agent_id: held.agent_id }, caller);
      return held;
    },
    task: (id) => ok('task_get', { id }),
  };
}
