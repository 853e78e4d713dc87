import { setTimeout as wait } from 'node:timers/promises';
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import type { BoundedLog } from '../../../machine/process/bounded-log.ts';
import type { Child, ChildExit, ChildSpec } from '../../../machine/process/child.ts';
import type { Children } from '../../../machine/process/children.ts';
import { readLines } from '../../../machine/process/lines.ts';
import { type JsonRpcAnswer, readMessages } from './json-rpc.ts';

export interface StdioOptions {
  readonly children: Pick<Children, 'start'>;
  readonly spawn: Omit<ChildSpec, 'marker'>;
  /** Receives the program's stderr, and the lines of stdout that are not messages. */
  readonly log: BoundedLog;
  readonly limits?: Partial<typeof LIMITS>;
}

export const LIMITS = {
  /** The maximum size of a message. */
  lineBytes: 16 * 1024 * 1024,
  /** The maximum size of all sent messages that the server has not read yet. */
  queuedBytes: 32 * 1024 * 1024,
  /** The share of this process's time that may be spent on output that nobody requested, and on stderr. */
  unaskedShare: 0.2,
  stderrShare: 0.05,
  /** How long each step of stopping the program may take. */
  graceMs: 1_000,
};
/** Messages that are passed on count more than once, because handling them takes more time later. */
const MESSAGE_WEIGHT = 2;
const STDERR_LINE = 16 * 1024;
const REASON_LENGTH = 300;
/** If a program closes a pipe, Covenant waits this long, because the program usually exits and its exit status says more about the cause. */
const EXIT_MS = 250;

/**
 * Speaks JSON-RPC 2.0 with a program that Covenant starts. Each line is one message. The SDK recognizes stdio transports by `pid` and `stderr`.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  /** Always null, because stderr goes to the log. */
  readonly stderr = null;
  readonly #options: StdioOptions;
  readonly #limits: typeof LIMITS;
  /** The ids of the requests that have no answer yet. */
  readonly #unanswered = new Set<RequestId>();
  #child: Child | undefined;
  #starting: Promise<Child> | undefined;
  #stopping: Promise<void> | undefined;
  #exit: ChildExit | undefined;
  #reason: string | null = null;
  #lastComplaint = '';
  #slowed = false;

  constructor(options: StdioOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Why the connection has ended, such as "closed its input". Null while it is open. */
  get closedBecause(): string | null {
    return this.#reason;
  }

  /** Rejects with ProgramMissing, FolderMissing or ProgramNotStarted. */
  async start(): Promise<void> {
    if (this.#starting) throw new Error('The transport was already started');
    if (this.#reason !== null) throw new Error('The transport is closed');
    this.#starting = this.#options.children.start(this.#options.spawn);
    const child = await this.#starting;
    this.#child = child;
    if (this.#reason !== null) throw new Error('The transport was closed while it was starting');
    const read = readLines(child.stdout, {
      maxBytes: this.#limits.lineBytes,
      tooLong: () => this.#end(`sent a line longer than ${this.#limits.lineBytes} bytes`),
      share: this.#limits.unaskedShare,
      line: (text) => this.#receive(text),
      slowed: () => this.#saySlowed(),
    });
    const complaints = readLines(child.stderr, {
      maxBytes: STDERR_LINE,
      tooLong: 'cut',
      share: this.#limits.stderrShare,
      line: (text) => this.#complain(text),
      slowed: () => this.#saySlowed(),
    });
    child.stdin.once('error', () => this.#endSoon('closed its input'));
    read.then(() => this.#endSoon('closed its output'));
    child.exited.then(async (exit) => {
      this.#exit = exit;
      // The last output is still read, but only for a limited time: a process that the program left behind may keep the pipes open.
      await Promise.race([Promise.all([read, complaints]), wait(EXIT_MS, undefined, { ref: false })]);
      this.#end(describeExit(exit));
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin || this.#reason !== null || !stdin.writable) throw new Error(`The server is not connected${this.#reason ? `: it ${this.#reason}` : ''}`);
    const line = Buffer.from(`${JSON.stringify(message)}\n`);
    if (stdin.writableLength + line.length > this.#limits.queuedBytes) {
      throw new Error(`The server reads too slowly: ${stdin.writableLength} bytes are already queued`);
    }
    if ('method' in message && 'id' in message) this.#unanswered.add(message.id);
    else if ('method' in message && message.method === 'notifications/cancelled') this.#unanswered.delete(message.params?.requestId as RequestId);
    // There is no need to wait: the message is in the limited queue. If the server exits before it reads the message, the connection ends too.
    stdin.write(line);
  }

  /** Stops the program. Resolves when none of its processes is left. */
  async close(): Promise<void> {
    this.#end('was stopped');
    await this.#stopping;
  }

  #receive(text: string): number {
    if (this.#reason !== null || text.trim() === '') return 1;
    const messages = readMessages(text);
    if (typeof messages === 'string') {
      this.#options.log.write(`stdout, ${messages}: ${text}`);
      return 1;
    }
    let weight = 0;
    for (const { kind, message } of messages) {
      if (kind !== 'answer') weight = MESSAGE_WEIGHT;
      else if (!this.#takeUnanswered(message)) {
        this.#options.log.write(`discarded an unexpected answer: id ${JSON.stringify(message.id)}`);
        weight ||= 1;
        continue;
      }
      // The client handles progress asynchronously. The answer is delayed a little, so that progress that came just before it is still handled.
      if (kind === 'answer') queueMicrotask(() => this.#deliver(message));
      else this.#deliver(message);
    }
    return weight;
  }

  #deliver(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.#options.log.write(`a message could not be handled: ${error}`);
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #takeUnanswered({ id }: JsonRpcAnswer): boolean {
    // Some servers return numeric ids as strings.
    return this.#unanswered.delete(id) || (typeof id === 'string' && String(Number(id)) === id && this.#unanswered.delete(Number(id)));
  }

  #complain(text: string): number {
    if (text.trim() !== '') {
      this.#lastComplaint = text;
      this.#options.log.write(`stderr: ${text}`);
    }
    return 1;
  }

  #saySlowed(): void {
    if (!this.#slowed) this.#options.log.note('it writes too much unrequested output: its output is now read slowly');
    this.#slowed = true;
  }

  #endSoon(reason: string): void {
    setTimeout(() => this.#end(this.#exit ? describeExit(this.#exit) : reason), EXIT_MS).unref();
  }

  #end(reason: string): void {
    if (this.#reason !== null) return;
    const complaint = reason === 'was stopped' ? '' : this.#options.log.clean(this.#lastComplaint).slice(0, REASON_LENGTH);
    this.#reason = complaint ? `${reason}: ${complaint}` : reason;
    this.#options.log.note(`it ${reason}`);
    this.#unanswered.clear();
    // A failed start is ignored here, because `start()` itself rejects. If a child could not be stopped completely, `onerror` gets the error.
    const stop = async () => {
      const child = await this.#starting?.catch(() => undefined);
      await child?.stop(this.#limits.graceMs);
    };
    this.#stopping = stop().catch((error: Error) => {
      this.#options.log.note(error.message);
      this.onerror?.(error);
    });
    try {
      this.onclose?.();
    } catch (error) {
      this.#options.log.write(`the end of the connection could not be handled: ${error}`);
    }
  }
}

function describeExit({ code, signal }: ChildExit): string {
  return signal ? `was killed by ${signal}` : `exited with code ${code}`;
}
