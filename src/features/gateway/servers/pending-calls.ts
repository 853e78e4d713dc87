import { CLIENT_REQUESTS, type ClientRequest, type Exchange, isLoud, type Json, LEVELS } from '../../../kernel/relay.ts';
import { attributeQuestion } from './attribution.ts';
import { isTooDeep, MAX_LEVELS } from './nesting.ts';
import { cannotAskRefusal } from './refusals.ts';

/** Thrown if a question of a server is refused. The server gets it as a protocol error. */
export class QuestionRefused extends Error {
  readonly code: number;
  constructor(message: string, code = -32600) {
    super(message);
    this.code = code;
  }
}

/** The maximum number of open questions per call. Nobody would answer more. */
const MAX_QUESTIONS = 16;
/** If the caller has not answered within this time, the call can be ended so that a question of another call can be asked. */
const GIVE_WAY_MS = 60_000;

interface Question {
  readonly request: { readonly method: ClientRequest; readonly params: Json };
  answer(result: Json): void;
}

/** A request that a server is working on. A caller answers questions by calling again, so the request may last longer than a single call. */
export class PendingCall {
  readonly server: string;
  /** The exchange of the call that is waiting for this request at the moment. */
  exchange: Exchange | undefined;
  /** The server's questions that nobody has answered yet. */
  readonly questions = new Map<string, Question>();
  readonly #cancel = new AbortController();
  #asked = 0;
  #asking = 0;
  #waitedForCaller = false;
  /** The time at which the caller got questions and was expected to call again. Undefined while a call is waiting for the request. */
  #suspendedAt: number | undefined;
  #wake: (() => void) | undefined;

  constructor(server: string, exchange: Exchange | undefined) {
    this.server = server;
    this.exchange = exchange;
  }

  /** Aborted if Covenant or the caller cancels the request. */
  get signal(): AbortSignal {
    return this.#cancel.signal;
  }

  /** Whether the caller's client still had an open question when the call was aborted. */
  get waitedForCaller(): boolean {
    return this.#waitedForCaller;
  }

  get openQuestions(): number {
    return this.questions.size + this.#asking;
  }

  suspend(now: number): void {
    this.#suspendedAt = now;
  }

  /** Continues the request after its caller has called again with answers. */
  resume(exchange: Exchange | undefined): void {
    this.#suspendedAt = undefined;
    this.exchange = exchange;
    this.take(exchange?.rounds?.inputResponses);
  }

  /** Whether the server has been waiting for so long that the caller may never answer. */
  isLeft(now: number): boolean {
    return this.#suspendedAt !== undefined && this.questions.size > 0 && now - this.#suspendedAt >= GIVE_WAY_MS;
  }

  cancel(reason: unknown): void {
    if (!this.signal.aborted) this.#waitedForCaller = this.#asking > 0;
    this.#cancel.abort(reason);
  }

  /** Asks the client of the caller and waits for the answer. */
  async ask(ask: NonNullable<Exchange['ask']>, { method, params }: Question['request'], signal: AbortSignal): Promise<Json> {
    this.#asking++;
    try {
      return await ask(method, params, AbortSignal.any([signal, this.signal]));
    } finally {
      this.#asking--;
    }
  }

  /** Resolves as soon as the server has asked a question. */
  question(): Promise<void> {
    if (this.questions.size > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Stores a question until the caller sends the answer with a later call. */
  keep(request: Question['request'], signal: AbortSignal): Promise<Json> {
    const key = `q${++this.#asked}`;
    return new Promise((resolve, reject) => {
      const give = (end: () => void) => {
        this.questions.delete(key);
        end();
      };
      const withdrawn = () => give(() => reject(new QuestionRefused('The question was withdrawn.')));
      signal.addEventListener('abort', withdrawn, { once: true });
      this.signal.addEventListener('abort', withdrawn, { once: true });
      this.questions.set(key, { request, answer: (result) => give(() => resolve(result)) });
      this.#wake?.();
    });
  }

  /** Passes the caller's answers to the server. Questions that are still unanswered will be asked again. */
  take(responses: Json | undefined): void {
    for (const [key, question] of [...this.questions]) {
      const answer = responses?.[key];
      if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) question.answer(answer as Json);
    }
  }
}

/** The requests that one server is working on. Messages of the server that do not refer to a request can be assigned only if there is just one. */
export class PendingCalls {
  readonly #pending = new Set<PendingCall>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  enter(pending: PendingCall): void {
    this.#pending.add(pending);
  }

  leave(pending: PendingCall): void {
    this.#pending.delete(pending);
  }

  /** The most verbose of the log levels that callers have requested. */
  wantedLevel(): string | undefined {
    const levels = new Set([...this.#pending].map(({ exchange }) => exchange?.log?.level));
    return LEVELS.findLast((level) => levels.has(level));
  }

  log(params: Json): void {
    const only = this.#only();
    const log = only?.exchange?.log;
    if (log && isLoud(params.level, log.level)) log.send(params);
  }

  /** Handles a question of a server with the older protocol revision. Such a question does not say which call it belongs to. */
  async ask(method: string, params: Json, signal: AbortSignal): Promise<Json> {
    if (!isClientRequest(method)) throw new QuestionRefused(`Method not supported: ${method}.`, -32601);
    const pending = this.#only() ?? this.#onlyAfterGivingWay();
    if (!pending) {
      throw new QuestionRefused(
        this.#pending.size === 0
          ? 'No call is in progress, so no client can be asked.'
          : 'Several calls are in progress, so it is unclear whose client to ask.',
      );
    }
    const { exchange } = pending;
    if (!exchange?.ask && !exchange?.rounds) {
      if (method !== 'roots/list') pending.cancel(cannotAskRefusal(pending.server, method));
      throw new QuestionRefused('The caller cannot be asked.', -32601);
    }
    if (!declares(exchange.capabilities, method, params)) throw new QuestionRefused(`The client does not support ${method}.`, -32601);
    if (isTooDeep(params)) throw new QuestionRefused(`The question is nested deeper than ${MAX_LEVELS} levels.`);
    if (pending.openQuestions >= MAX_QUESTIONS) throw new QuestionRefused(`This call already has ${MAX_QUESTIONS} open questions.`);
    const question = { method, params: attributeQuestion(pending.server, method, withoutProgress(params)) };
    return await (exchange.ask ? pending.ask(exchange.ask, question, signal) : pending.keep(question, signal));
  }

  /**
   * Ends the calls whose callers have not come back, if exactly one other call is then left. The new question must belong to that call, because
   * the ended calls were waiting for answers.
   */
  #onlyAfterGivingWay(): PendingCall | undefined {
    const left = [...this.#pending].filter((pending) => pending.isLeft(this.#now()));
    if (left.length === 0 || this.#pending.size - left.length !== 1) return undefined;
    for (const pending of left) {
      pending.cancel(new Error('another call had a question'));
      this.leave(pending);
    }
    return this.#only();
  }

  #only(): PendingCall | undefined {
    const [first] = this.#pending;
    return this.#pending.size === 1 ? first : undefined;
  }
}

/** Removes the server's own progress token, because it could be confused with one of Covenant's tokens. */
function withoutProgress({ _meta, ...params }: Json): Json {
  const { progressToken: _, ...meta } = (_meta ?? {}) as Json;
  return Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params;
}

const isClientRequest = (method: string): method is ClientRequest => (CLIENT_REQUESTS as readonly string[]).includes(method);

/** Whether the client has declared support for a question. A client that declares elicitation without a mode supports forms. */
function declares(capabilities: Json, method: ClientRequest, params: Json): boolean {
  const declared = capabilities[method.slice(0, method.indexOf('/'))] as Json | undefined;
  if (!declared) return false;
  if (method !== 'elicitation/create') return true;
  return params.mode === 'url' ? declared.url !== undefined : declared.form !== undefined || declared.url === undefined;
}
