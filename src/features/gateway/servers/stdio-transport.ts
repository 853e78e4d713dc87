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
  /** Gets its stderr, and lines of its stdout that are no message. */
  readonly log: BoundedLog;
  readonly limits?: Partial<typeof LIMITS>;
}

export const LIMITS = {
  /** Of one message. */
  lineBytes: 16 * 1024 * 1024,
  /** Of sent messages that the server has not read yet. */
  queuedBytes: 32 * 1024 * 1024,
  /** Of our time: for output that nobody asked for, and for what it writes to stderr. */
  unaskedShare: 0.2,
  stderrShare: 0.05,
  /** For each step of ending it. */
  graceMs: 1_000,
};
/** One that is handed on takes more time later, when it is handled. */
const MESSAGE_WEIGHT = 2;
const STDERR_LINE = 16 * 1024;
const REASON_LENGTH = 300;
/** One that has closed a pipe is about to end, and its exit says more. */
const EXIT_MS = 250;

/**
 * JSON-RPC 2.0 with a program that we have started, one message per line. `pid` and `stderr` are also what the SDK knows a stdio transport by.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  /** Its output is in the log. */
  readonly stderr = null;
  readonly #options: StdioOptions;
  readonly #limits: typeof LIMITS;
  /** Requests of ours that have no answer yet. */
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

  /** Why the connection is over, as a clause; null while it is not. */
  get closedBecause(): string | null {
    return this.#reason;
  }

  /** Rejects with ProgramMissing, FolderMissing or ProgramNotStarted. */
  async start(): Promise<void> {
    if (this.#starting) throw new Error('The transport has been started already');
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
      // Its last output is still read. A process that it left behind may hold the pipes open, and is not waited for.
      await Promise.race([Promise.all([read, complaints]), wait(EXIT_MS, undefined, { ref: false })]);
      this.#end(describeExit(exit));
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin || this.#reason !== null || !stdin.writable) throw new Error(`The server is not connected${this.#reason ? `: it ${this.#reason}` : ''}`);
    const line = Buffer.from(`${JSON.stringify(message)}\n`);
    if (stdin.writableLength + line.length > this.#limits.queuedBytes) {
      throw new Error(`The server reads too slowly: ${stdin.writableLength} bytes wait for it already`);
    }
    if ('method' in message && 'id' in message) this.#unanswered.add(message.id);
    else if ('method' in message && message.method === 'notifications/cancelled') this.#unanswered.delete(message.params?.requestId as RequestId);
    // Not waited for: it is in the bounded queue, and if the server ends before it has read it, the connection ends too.
    stdin.write(line);
  }

  /** Resolves when no process of it is left. */
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
        this.#options.log.write(`discarded an answer that nobody waits for: id ${JSON.stringify(message.id)}`);
        weight ||= 1;
        continue;
      }
      // The client handles what it is told a moment after it was told: progress that came just before the answer would find the call over.
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
    // Some servers make every id a string.
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
    if (!this.#slowed) this.#options.log.note('it writes more than anybody asked for: its output is read slowly from now on');
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
    // A failed start rejects by itself; a child that could not be ended in full is reported to `onerror`.
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
