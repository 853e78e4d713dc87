import type { EventStore } from '@modelcontextprotocol/server';

type Message = Parameters<EventStore['storeEvent']>[1];

interface KeptMessage {
  readonly id: number;
  readonly stream: string;
  readonly message: Message;
  readonly size: number;
}

/** Limits the total size of the messages that all sessions store, in characters. */
export class MemoryBudget {
  readonly #most: number;
  readonly #memories = new Set<StreamMemory>();
  used = 0;

  constructor(most: number) {
    this.#most = most;
  }

  enter(memory: StreamMemory): void {
    this.#memories.add(memory);
  }

  leave(memory: StreamMemory): void {
    this.#memories.delete(memory);
  }

  /**
   * Drops messages until the total is within the limit. The session with the most stored characters
   * loses messages first, so that one session cannot displace the messages of all others.
   */
  keepWithin(): void {
    while (this.used > this.#most) {
      const [largest] = [...this.#memories].sort((a, b) => b.size - a.size);
      largest?.forgetOldest();
    }
  }
}

const MAX_MESSAGES = 200;

/** Stores the last messages of a session. After a broken connection, the client can resume from the last message that it received. */
export class StreamMemory implements EventStore {
  readonly #budget: MemoryBudget;
  readonly #kept: KeptMessage[] = [];
  #last = 0;
  #size = 0;
  #over = false;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
    budget.enter(this);
  }

  get size(): number {
    return this.#size;
  }

  async storeEvent(stream: string, message: Message): Promise<string> {
    const id = ++this.#last;
    // The session has ended, so nobody can resume from this message.
    if (this.#over) return String(id);
    const size = JSON.stringify(message).length;
    this.#kept.push({ id, stream, message, size });
    this.#grow(size);
    if (this.#kept.length > MAX_MESSAGES) this.forgetOldest();
    this.#budget.keepWithin();
    return String(id);
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#find(id)?.stream;
  }

  async replayEventsAfter(id: string, { send }: Parameters<EventStore['replayEventsAfter']>[1]): Promise<string> {
    const from = this.#find(id);
    if (!from) throw new Error('this message is no longer stored');
    for (const one of [...this.#kept]) if (one.id > from.id && one.stream === from.stream) await send(String(one.id), one.message);
    return from.stream;
  }

  forgetOldest(): void {
    this.#grow(-(this.#kept.shift()?.size ?? 0));
  }

  close(): void {
    this.#over = true;
    while (this.#kept.length > 0) this.forgetOldest();
    this.#budget.leave(this);
  }

  #find(id: string): KeptMessage | undefined {
    return this.#kept.find((one) => String(one.id) === id);
  }

  #grow(size: number): void {
    this.#size += size;
    this.#budget.used += size;
  }
}
