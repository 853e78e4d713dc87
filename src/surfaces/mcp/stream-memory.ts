import type { EventStore } from '@modelcontextprotocol/server';

type Message = Parameters<EventStore['storeEvent']>[1];

interface Kept {
  readonly id: number;
  readonly stream: string;
  readonly message: Message;
  readonly size: number;
}

/** What all sessions together may remember, in characters. */
export class MemoryBudget {
  readonly most: number;
  used = 0;

  constructor(most: number) {
    this.most = most;
  }
}

const MOST_MESSAGES = 200;

/** What a session has sent last, so that a client whose connection broke can go on after the last message it has. */
export class StreamMemory implements EventStore {
  readonly #budget: MemoryBudget;
  readonly #kept: Kept[] = [];
  #last = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  async storeEvent(stream: string, message: Message): Promise<string> {
    const size = JSON.stringify(message).length;
    const id = ++this.#last;
    this.#kept.push({ id, stream, message, size });
    this.#budget.used += size;
    while (this.#kept.length > MOST_MESSAGES || (this.#budget.used > this.#budget.most && this.#kept.length > 0)) this.#forgetOldest();
    return String(id);
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#find(id)?.stream;
  }

  async replayEventsAfter(id: string, { send }: Parameters<EventStore['replayEventsAfter']>[1]): Promise<string> {
    const from = this.#find(id);
    if (!from) throw new Error('this message is no longer remembered');
    for (const one of [...this.#kept]) if (one.id > from.id && one.stream === from.stream) await send(String(one.id), one.message);
    return from.stream;
  }

  clear(): void {
    while (this.#kept.length > 0) this.#forgetOldest();
  }

  #find(id: string): Kept | undefined {
    return this.#kept.find((one) => String(one.id) === id);
  }

  #forgetOldest(): void {
    this.#budget.used -= this.#kept.shift()?.size ?? 0;
  }
}
