import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { argumentsDigest } from '../../kernel/call.ts';
import type { Call, Fate } from './history.ts';
import type { FencedWrite } from './holders.ts';

export type Json = Record<string, unknown>;

export interface Answered {
  readonly fate: Fate;
  readonly code: string | undefined;
  readonly data: Json;
}

/** What all clients of a load test have called, and which answers they received. */
export class ClientLog {
  readonly calls: Call[] = [];
  readonly fenced = new Map<string, FencedWrite>();
  /** Answers that a server must never give, even after a fault. */
  readonly faults: string[] = [];
  readonly answeredBy = new Map<string, number>();
  acknowledged = 0;
  readonly #waiting: { until: number; go: () => void }[] = [];

  add(caller: string, call: Call): void {
    this.calls.push(call);
    if (call.fate === 'unknown') return;
    this.answeredBy.set(caller, (this.answeredBy.get(caller) ?? 0) + 1);
    if (call.fate === 'acknowledged') this.acknowledged++;
    for (const waiting of this.#waiting.filter(({ until }) => this.acknowledged >= until)) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.go();
    }
  }

  summary(): string {
    const fates = Map.groupBy(this.calls, ({ fate }) => fate);
    return [...fates].map(([fate, calls]) => `${calls.length} ${fate}`).join(', ');
  }

  /** Waits until this many more calls have been acknowledged. */
  async more(calls: number): Promise<void> {
    const until = this.acknowledged + calls;
    await new Promise<void>((go) => this.#waiting.push({ until, go }));
  }
}

export interface Made {
  /** The rows that the call creates, as `kind:marker`. */
  readonly rows?: readonly string[];
  readonly fenced?: FencedWrite;
  /** Set if the product promises that a repeated call changes nothing. The call is then repeated until it is answered. */
  readonly idempotent?: true;
  /** Set if no other call has the same arguments, so that they identify the event of the call. */
  readonly unique?: true;
}

const ANSWER_MS = 120_000;
const RETRY_MS = 25;
const NOBODY_THERE = 'ECONNREFUSED';
const STORE_IS_AWAY = /^STORE_/;

/** One agent with its own token and its own connection, which stays open. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #name: string;
  readonly #token: string;
  readonly #log: ClientLog;
  /** The addresses of the servers, with the client's own server first. If a server cannot be reached, the client uses the next one. */
  readonly #urls: readonly string[];
  #at = 0;

  constructor(name: string, token: string, log: ClientLog, urls: readonly string[]) {
    this.#name = name;
    this.#token = token;
    this.#log = log;
    this.#urls = urls;
  }

  async tool(tool: string, args: Json, made: Made = {}): Promise<Answered> {
    return await this.#call(tool, '/api/mcp', { tool, arguments: args }, args, made);
  }

  async action(name: string, args: Json, made: Made = {}): Promise<Answered> {
    return await this.#call(name, `/api/actions/${name}`, args, args, made);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #call(tool: string, path: string, body: Json, args: Json, made: Made): Promise<Answered> {
    const digest = argumentsDigest(args) as string;
    if (made.fenced) this.#log.fenced.set(digest, made.fenced);
    // If the outcome of one attempt is unknown, a later refusal does not prove that no attempt succeeded.
    for (let isKnown = true; ; ) {
      const answered = await this.#once(path, body);
      if (answered.code === NOBODY_THERE) continue;
      if (made.idempotent && answered.fate === 'unknown') {
        isKnown = false;
        continue;
      }
      const fate = answered.fate === 'refused' && !isKnown ? 'unknown' : answered.fate;
      const effects = [...(made.rows ?? []), ...(made.unique ? [`call:${digest}`] : [])];
      this.#log.add(this.#name, { tool, fate, code: answered.code, effects });
      return { ...answered, fate };
    }
  }

  async #once(path: string, body: Json): Promise<Answered> {
    try {
      const { status, text } = await post(`${this.#urls[this.#at]}${path}`, this.#token, JSON.stringify(body), this.#agent);
      const answered = this.#read(path, status, text);
      if (STORE_IS_AWAY.test(answered.code ?? '')) await pause(RETRY_MS);
      return answered;
    } catch (error) {
      this.#at = (this.#at + 1) % this.#urls.length;
      await pause(RETRY_MS);
      return { fate: 'unknown', code: (error as NodeJS.ErrnoException).code, data: {} };
    }
  }

  #read(path: string, status: number, text: string): Answered {
    const body = JSON.parse(text) as Json;
    const code = codeIn(body);
    if (code === undefined && status === 200) return { fate: 'acknowledged', code, data: dataIn(body) };
    if (code === 'OUTCOME_UNKNOWN' || code === 'TOOL_TIMEOUT') return { fate: 'unknown', code, data: {} };
    if (code === undefined || code.startsWith('INTERNAL')) this.#log.faults.push(`${path}: ${status} ${text.slice(0, 300)}`);
    return { fate: code?.startsWith('INTERNAL') ? 'unknown' : 'refused', code, data: dataIn(body) };
  }
}

/** Returns the error code in an answer. Its place depends on the contract, because each one has a different envelope. */
function codeIn(body: Json): string | undefined {
  const { data, error, structuredContent } = body as { data?: Json; error?: Json; structuredContent?: Json };
  const code = body.code ?? error?.code ?? structuredContent?.code ?? (body.status === 'ok' ? undefined : data?.code);
  return code === undefined ? undefined : String(code);
}

const dataIn = (body: Json): Json => (body.data ?? body.structuredContent ?? body) as Json;

function post(url: string, token: string, body: string, agent: Agent): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }));
      response.on('close', () => response.complete || reject(new Error('cut off in the answer')));
    });
    sent.on('error', reject);
    sent.setTimeout(ANSWER_MS, () => sent.destroy(new Error('no answer')));
    sent.end(body);
  });
}
