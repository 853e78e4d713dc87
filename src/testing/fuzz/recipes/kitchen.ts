import type { Body } from '../../scenes/workflow.ts';
import type { Row, Table } from '../captured.ts';
import { ownerOf } from '../owners.ts';
import type { Caller, CallerName, FuzzScene } from '../scene.ts';
import { REPOSITORY } from '../scene.ts';

/** Describes what a call needs in order to succeed, such as existing data and fields that match each other. */
export interface Recipe {
  /** The callers that can succeed with this recipe. Other callers call the target only occasionally. */
  readonly by: readonly CallerName[];
  /** The workspace that an operator call is made for. */
  readonly workspace?: string;
  /** Fields that replace the generated ones. A field that is set to undefined is left out. */
  readonly with?: (at: Kitchen) => Promise<object> | object;
}

export const AGENTS: readonly CallerName[] = ['ana', 'ben', 'ana_too', 'paula'];
export const ADMINS: readonly CallerName[] = ['operator', 'olga_web'];
export const SIGNED_IN: readonly CallerName[] = ['ana_web', 'ben_web', 'olga_web', 'operator'];

type Fits = (row: Row) => boolean;

/** Helps recipes to find existing data and to create missing data. */
export class Kitchen {
  readonly scene: FuzzScene;
  readonly caller: Caller;
  readonly n: number;
  /** The generated input of the call. */
  readonly input: Readonly<Record<string, unknown>>;

  constructor(scene: FuzzScene, caller: Caller, n: number, input: Readonly<Record<string, unknown>> = {}) {
    this.scene = scene;
    this.caller = caller;
    this.n = n;
    this.input = input;
  }

  /** Returns one of the two values, depending on the random number `n`. */
  either<A, B>(one: A, other: B): A | B {
    return this.n % 2 ? one : other;
  }

  /** Returns one of the newest matching rows in the caller's workspace. */
  one(table: Table, fits: Fits = () => true): Row | undefined {
    const { workspace } = this.caller.principal;
    return this.#choose(this.scene.captured.rows(table).filter((row) => row.workspace_id === workspace && fits(row)));
  }

  /** Like `one`, but only for rows that belong to the caller's developer. */
  mine(table: Table, fits: Fits = () => true): Row | undefined {
    const { developerId } = this.caller.principal;
    return this.one(table, (row) => ownerOf(this.scene, table, row) === developerId && fits(row));
  }

  #choose(rows: readonly Row[]): Row | undefined {
    return rows.at(-1 - (this.n % Math.min(Math.max(rows.length, 1), 6)));
  }

  /** Makes a preparing call, which must succeed, as the caller or as someone else. Returns its answer. */
  async first(tool: string, args: object, by: CallerName = this.caller.name): Promise<Body> {
    const body = await this.scene.ok(tool, args, by);
    await this.scene.captured.changes();
    return body;
  }

  async done(action: string, args: object): Promise<Body> {
    const data = await this.scene.done(action, args);
    await this.scene.captured.changes();
    return data;
  }

  /** Makes the developer visible, because other callers cannot use the name of a private developer. Returns the name. */
  async nameable(developer = this.caller.principal.developerName as string): Promise<string> {
    await this.done('developers.set_visibility', { developer, visibility: 'team' });
    return developer;
  }

  /** Returns the id of an agent that is online and registered with the caller's token. */
  async agent(by: CallerName = this.caller.name): Promise<string> {
    const { tokenId } = await this.scene.caller(by);
    const heard = this.scene.clock.now() - 45_000;
    const known = this.one('agents', (row) => row.token_id === tokenId && row.status !== 'offline' && Number(row.last_seen_at) > heard);
    return known ? String(known.id) : (await this.first('agent_register', { name: 'worker', runtime: 'codex' }, by)).id;
  }

  /** Checks and starts new work, and returns its id. */
  async begun(tool: 'covibe_task' | 'covibe_workstream', title: string, by: CallerName = this.caller.name): Promise<string> {
    const words = { title, ...(tool === 'covibe_task' ? { task_type: 'chore' } : {}) };
    const check = (await this.first(tool, { operation: 'check', ...words }, by)).data;
    const candidates = (check.candidates ?? []).map(({ id }: { id: string }) => ({ id, same_scope: false, reason: 'other work' }));
    const verdict = check.requires_verdict ? { check_id: check.check_id, scope_verdict: { verdict: 'distinct', candidates } } : {};
    const { data } = await this.first(tool, { operation: 'start', ...words, ...verdict }, by);
    return data.task_id ?? data.workstream_id;
  }

  /** Creates a workflow with a plan of unclaimed steps. Returns the workflow's id and the steps' ids. */
  async workflow(by: CallerName = 'ana', more: object = {}): Promise<{ id: string; steps: string[] }> {
    const fields = { name: `Ship ${this.n}`, source_type: 'prompt', source_content: 'Ship it.', repository_path: REPOSITORY, max_parallel_tasks: 100 };
    const { id } = await this.first('workflow_create', { ...fields, ...more }, by);
    const tasks = ['one', 'two', 'three'].map((name, sequence) => ({ name, description: '', sequence, files_likely_affected: ['src/a.ts'] }));
    await this.first('workflow_set_plan', { id, plan: { summary: 's', approach: 'a', tasks } }, by);
    return { id, steps: this.scene.captured.rows('workflow_tasks').flatMap((row) => (row.workflow_id === id ? [String(row.id)] : [])) };
  }

  isOpen = (row: Row): boolean => ['ready', 'in_progress'].includes(String(this.scene.captured.find('workflows', row.workflow_id)?.status));

  /** Returns a step that anyone could claim. */
  async freeStep(): Promise<string> {
    const free = this.one('workflow_tasks', (row) => row.status === 'pending' && row.assigned_agent_id === null && !row.open_dependencies && this.isOpen(row));
    const roomy = free && Number(this.scene.captured.find('workflows', free.workflow_id)?.max_parallel_tasks) > 50;
    return roomy ? String(free.id) : ((await this.workflow()).steps[0] as string);
  }

  /** Returns a step in the requested state. An agent of the caller's token holds the step. */
  async heldStep(status: 'pending' | 'planning' | 'in_progress' = 'in_progress', by: CallerName = this.caller.name): Promise<Held> {
    const agent_id = await this.agent(by);
    const held = this.one('workflow_tasks', (row) => row.assigned_agent_id === agent_id && row.status === status && this.isOpen(row));
    if (held) return { id: String(held.id), agent_id, fence: Number(held.fence), workflow_id: String(held.workflow_id) };
    const id = await this.freeStep();
    const { fence } = await this.first('task_claim', { task_id: id, agent_id }, by);
    for (const next of status === 'pending' ? [] : status === 'planning' ? ['planning'] : ['planning', 'in_progress'])
      await this.first('task_update_status', { id, status: next, agent_id }, by);
    return { id, agent_id, fence, workflow_id: String(this.scene.captured.find('workflow_tasks', id)?.workflow_id) };
  }
}

interface Held {
  readonly id: string;
  readonly agent_id: string;
  readonly fence: number;
  readonly workflow_id: string;
}

/** Returns a developer who is not the caller. */
export const other = ({ caller }: Kitchen): CallerName => (caller.principal.developerName === 'ben' ? 'ana' : 'ben');
