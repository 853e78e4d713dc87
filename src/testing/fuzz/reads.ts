import type { Contract } from '../../kernel/contract.ts';
import type { PublishedTool } from '../../kernel/publish.ts';
import type { Handler, Implementation } from '../../kernel/tool.ts';

type Input = Record<string, unknown>;

/** Records which input fields the handler of the current call has read. */
export class Reads {
  #seen = new Set<string>();

  /** Returns the fields that the last call has read, and starts again. */
  take(): ReadonlySet<string> {
    const seen = this.#seen;
    this.#seen = new Set();
    return seen;
  }

  /** Wraps the input of all operations of the tool, so that reads of fields are recorded. */
  watch({ operations }: PublishedTool): void {
    const watched = operations as Map<string | null, Implementation>;
    for (const [name, implementation] of operations) watched.set(name, { ...implementation, handler: this.#watched(implementation.handler) });
  }

  #watched(handler: Handler<Contract>): Handler<Contract> {
    if ('read' in handler) return { read: (input, ctx) => handler.read(this.#through(input), ctx) };
    if ('run' in handler) return { run: (input, ctx) => handler.run(this.#through(input), ctx) };
    if ('begin' in handler) {
      return {
        begin: (tx, input, ctx) => handler.begin(tx, this.#through(input), ctx),
        act: (begun, input, ctx) => handler.act(begun, this.#through(input), ctx),
      };
    }
    const { prepare, write } = handler;
    const prepared = prepare && { prepare: (input: Input, ctx: Parameters<typeof prepare>[1]) => prepare(this.#through(input), ctx) };
    return { ...prepared, write: (tx, input, ctx, made) => write(tx, this.#through(input), ctx, made) };
  }

  #through(input: Input): Input {
    return new Proxy(input, {
      get: (target, field, receiver) => {
        if (typeof field === 'string') this.#seen.add(field);
        return Reflect.get(target, field, receiver);
      },
      has: (target, field) => {
        if (typeof field === 'string') this.#seen.add(field);
        return Reflect.has(target, field);
      },
    });
  }
}
