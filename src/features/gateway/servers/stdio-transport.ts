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
  /** Receives its stderr, and stdout lines that are not messages. */
  readonly log: BoundedLog;
  readonly limits?: Partial<typeof LIMITS>;
}

export const LIMITS = {
  /** Per message. */
  lineBytes: 16 * 1024 * 1024,
  /** Sent messages that the server has not read yet. */
  queuedBytes: 32 * 1024 * 1024,
  /** Shares of this process's time: for unrequested output, and for stderr. */
  unaskedShare: 0.2,
  stderrShare: 0.05,
  /** Per step of stopping it. */
  graceMs: 1_000,
};
/** A message that is passed on takes more time later, when it is handled. */
const MESSAGE_WEIGHT = 2;
const STDERR_LINE = 16 * 1024;
const REASON_LENGTH = 300;
/** A program that closed a pipe is usually about to exit, and its exit status is more useful. */
const EXIT_MS = 250;

/**
 * JSON-RPC 2.0 with a program started by Covenant, one message per line. The SDK recognizes stdio transports by `pid` and `stderr`.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  /** Its output goes to the log. */
  readonly stderr = null;
  readonly #options: StdioOptions;
  readonly #limits: typeof LIMITS;
  /** Requests that have no answer yet. */
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

  /** Why the connection has ended, as a clause; null while it is open. */
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
      // Its last output is still read. A process that it left behind may keep the pipes open, so this does not wait for their end.
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
    // Not awaited: the message is in the bounded queue, and if the server exits before reading it, the connection ends too.
    stdin.write(line);
  }

  /** Resolves when none of its processes is left. */
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
      // The client handles progress asynchronously. Without this delay, a call would be finished before progress that came just before its answer.
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
    // Some servers turn every id into a string.
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
    // If the start failed, `start()` itself rejects. A child that could not be stopped completely is reported to `onerror`.
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
