import { PSKS } from '../scenes/cycle.ts';
import type { Client, Json } from './client.ts';

type Role = keyof typeof PSKS;

/** Two roles of a cycle that hand over to each other again and again. Each role also tries to act when it is not its turn. */
export class Roles {
  readonly #clients: Record<Role, Client>;
  readonly #at: { repository_path: string };
  readonly #sessions: Partial<Record<Role, string>> = {};
  #cycle: string | undefined;
  #count = 0;

  constructor(clients: Record<Role, Client>, repository: string) {
    this.#clients = clients;
    this.#at = { repository_path: repository };
  }

  async work(): Promise<void> {
    this.#cycle ??= await this.#started();
    if (!this.#cycle) return;
    await this.#handOver('gemini', 'codex');
    await this.#handOver('codex', 'gemini');
  }

  async #started(): Promise<string | undefined> {
    await this.#clients.gemini.tool('cycle.start', { feature: 'load', ...this.#at });
    const { data } = await this.#clients.gemini.tool('cycle.status', this.#at);
    return data.cycle_id ? String(data.cycle_id) : undefined;
  }

  async #handOver(producer: Role, consumer: Role): Promise<void> {
    const session_token = (this.#sessions[producer] ??= await this.#opened(producer));
    if (!session_token) return;
    const { data, code } = await this.#clients[producer].tool('lock.acquire', { session_token, ...this.#at });
    if (code?.startsWith('SESSION') || code?.startsWith('AUTH')) this.#sessions[producer] = undefined;
    if (!data.lock_token) return;
    const marker = `roles${++this.#count}`;
    const lists: Json = { files_modified: [], endpoints: [], data_shapes: [], assumptions: [], todos: [], notes: [marker] };
    const payload = { cycle_id: this.#cycle, feature: 'load', producer, consumer, ...lists };
    const args = { target: consumer, payload, session_token, lock_token: data.lock_token, ...this.#at };
    await this.#clients[producer].tool('handoff.write', args, { rows: [`handoff:${marker}`] });
  }

  async #opened(role: Role): Promise<string | undefined> {
    const { data } = await this.#clients[role].tool('session.open', { role, psk: PSKS[role], ...this.#at });
    return data.session_token ? String(data.session_token) : undefined;
  }
}
