import type { Client, Json } from './client.ts';
import type { Random } from './random.ts';

/** What all agents of a load test share. */
export interface Site {
  readonly workflow: string;
  /** The ids of registered agents, which can receive messages. */
  readonly agents: string[];
  /** The number of files that the agents compete for. */
  readonly files: number;
}

const REPO = 'acme/app';
const WORDS = ['amber', 'basalt', 'cobalt', 'dune', 'ember', 'fjord', 'garnet', 'harbor', 'indigo', 'jasper', 'krill', 'lichen', 'marble', 'nectar', 'onyx'];

/** An agent that uses many parts of the product. Each write contains a unique marker. */
export class Worker {
  readonly #client: Client;
  readonly #random: Random;
  readonly #site: Site;
  readonly #name: string;
  #count = 0;
  #agent: string | undefined;

  constructor(name: string, client: Client, random: Random, site: Site) {
    this.#name = name;
    this.#client = client;
    this.#random = random;
    this.#site = site;
  }

  /** Makes a few calls that belong together. */
  async work(): Promise<void> {
    const works = [
      () => this.#note(),
      () => this.#announce(),
      () => this.#edit(),
      () => this.#step(),
      () => this.#step(),
      () => this.#write(),
      () => this.#report(),
    ];
    await this.#random.pick(works)();
  }

  #marker(): string {
    return `${this.#name}n${++this.#count}`;
  }

  async #note(): Promise<void> {
    const title = this.#marker();
    const kind = this.#random.pick(['decision', 'blocker']);
    await this.#client.tool('covibe_note', { kind, title }, { rows: [`note:${title}`], unique: true });
  }

  async #announce(): Promise<void> {
    const marker = this.#marker();
    // The titles differ enough that the overlap check accepts most of them. The others are refused, which is not an error.
    const title = `${marker} ${[0, 1, 2, 3].map(() => `${this.#random.pick(WORDS)}${this.#random.below(1_000)}`).join(' ')}`;
    const words = { title, task_type: 'chore' };
    await this.#client.tool('covibe_task', { operation: 'check', ...words });
    const { fate, data } = await this.#client.tool('covibe_task', { operation: 'start', ...words }, { rows: [`task:${title}`], unique: true });
    if (fate !== 'acknowledged') return;
    await this.#client.tool('covibe_task', { operation: 'complete', task_id: data.task_id, result_summary: marker }, { unique: true });
  }

  async #edit(): Promise<void> {
    const reason = this.#marker();
    const paths = [`src/file${this.#random.below(this.#site.files)}.ts`];
    const { fate, data } = await this.#client.tool('covibe_coordination', { operation: 'claim', repo: REPO, paths, reason }, { unique: true });
    if (fate !== 'acknowledged') return;
    await this.#client.tool('covibe_note', { kind: 'decision', title: `${reason}e` }, { rows: [`note:${reason}e`], unique: true });
    // This call is not marked as unique. If a claim could not be released, it is renewed later and then released again with the same id.
    if (this.#random.chance(0.9)) await this.#client.tool('covibe_coordination', { operation: 'release', claim_id: data.claim_id });
  }

  async #step(): Promise<void> {
    const agent_id = await this.#registered();
    if (!agent_id) return;
    const { data: free } = await this.#client.tool('task_get_available', { agent_id, workflow_id: this.#site.workflow, limit: 20 });
    const tasks = (free.tasks ?? []) as { id: string }[];
    if (tasks.length < 5) await this.#addTask();
    if (tasks.length === 0) return;
    const id = this.#random.pick(tasks).id;
    const { fate, code, data } = await this.#client.tool('task_claim', { task_id: id, agent_id });
    if (code === 'INVALID_STATE' || code === 'AGENT_OFFLINE') this.#agent = undefined;
    if (fate !== 'acknowledged' || data.success !== true) return;
    const hold = { agent_id, fence: Number(data.fence) };
    const fenced = { task: id, agent: agent_id, fence: hold.fence };
    const claimed = { id, ...hold };
    await this.#client.tool('task_update_status', { ...claimed, status: 'planning' });
    await this.#client.tool('task_update_status', { ...claimed, status: 'in_progress' });
    const summary = this.#marker();
    await this.#client.tool('checkpoint_add', { task_id: id, type: 'progress', summary, ...hold }, { rows: [`checkpoint:${summary}`], unique: true, fenced });
    if (this.#random.chance(0.3)) return void (await this.#client.tool('task_release', { task_id: id, reason: summary, ...hold }, { unique: true }));
    await this.#client.tool('task_update_status', { ...claimed, status: 'completed', outcome: summary }, { unique: true });
  }

  async #addTask(): Promise<void> {
    const name = this.#marker();
    const task = { name, description: '', sequence: 1 };
    await this.#client.tool('workflow_add_task', { workflow_id: this.#site.workflow, ...task }, { rows: [`step:${name}`], unique: true });
  }

  async #write(): Promise<void> {
    const sender_id = await this.#registered();
    if (!sender_id) return;
    const subject = this.#marker();
    const message = { sender_id, recipient_id: this.#random.pick(this.#site.agents), message_type: 'notification', subject, body: 'done' };
    const { code } = await this.#client.tool('message_send', message, { rows: [`message:${subject}`], unique: true });
    if (code === 'INVALID_STATE') this.#agent = undefined;
    const { data } = await this.#client.tool('message_list', { agent_id: sender_id, limit: 5 });
    const message_ids = ((data.messages ?? []) as { id: string }[]).map(({ id }) => id);
    if (message_ids.length > 0) await this.#client.tool('message_mark_read', { message_ids });
  }

  /** Reports usage. If there is no answer, the report is repeated, because the server counts the same payload only once. */
  async #report(): Promise<void> {
    const model = this.#marker();
    const payload: Json = { direct_counts: { model, input_tokens: 10, output_tokens: 1 } };
    await this.#client.tool('covibe_ingest_agent_telemetry', { source: 'proxy', payload }, { rows: [`span:${model}`], idempotent: true });
  }

  async #registered(): Promise<string | undefined> {
    if (this.#agent) return this.#agent;
    const name = this.#marker();
    const { fate, data } = await this.#client.tool('agent_register', { name, runtime: 'custom' }, { rows: [`agent:${name}`], unique: true });
    if (fate !== 'acknowledged') return undefined;
    this.#agent = String(data.id);
    this.#site.agents.push(this.#agent);
    return this.#agent;
  }
}
