import { hash } from 'node:crypto';
import { canonicalJson } from '../storage/canonical.ts';
import type { NewEvent } from '../storage/journal.ts';
import type { Tx, WriteCallback } from '../storage/write.ts';
import type { CallContext, House, Principal, Surface } from './context.ts';
import { linksSession, SESSION_FIELD, type Toolset } from './contract.ts';
import { Deadline } from './deadline.ts';
import { isError } from './envelope.ts';
import { isFault, replyTo } from './errors.ts';
import { newId } from './ids.ts';
import { parseInput, selectOperation } from './input.ts';
import type { PublishedTool } from './publish.ts';
import type { Registry } from './registry.ts';
import type { Refused, Reply } from './reply.ts';
import { Begun, type Implementation } from './tool.ts';
import { fallbackEnvelope, noWorkspace, onlyToolset, opensWorkspace, roleDenial, unknownAction, unknownTool } from './unserved.ts';

export interface CallRequest {
  readonly name: string;
  readonly args: unknown;
  readonly principal: Principal;
  readonly surface: Surface;
  /** Where the operator wants to act, by name; everybody else acts in the workspace that their token is of. */
  readonly workspace?: string | undefined;
  /** The repository that the caller's bridge or CLI stands in, as it says. */
  readonly repository?: string | undefined;
  /** The toolsets that the caller's path serves; all where it does not say. */
  readonly toolsets?: ReadonlySet<Toolset>;
  readonly signal?: AbortSignal | undefined;
  /** What the client says of itself and its turn, kept with the usage event so that its logs can be joined to ours. */
  readonly correlation?: Record<string, string>;
}

export interface Answer {
  readonly reply: Reply<unknown>;
  readonly isError: boolean;
  /** The contract's documented response. */
  readonly body: Record<string, unknown>;
  /** The body is a whole MCP tool result, content and all. */
  readonly isToolResult: boolean;
}

/** The gate's word on one call. */
export type Verdict = Passed | Denied;
export interface Passed {
  readonly allowed: true;
  readonly grant: { readonly id: string; readonly revision: number } | null;
  readonly check: NewEvent;
  /** Set where the grant counts its uses: takes one, or says that there is none left. */
  readonly consume?: (tx: Tx) => Promise<Verdict>;
}
export interface Denied {
  readonly allowed: false;
  readonly check: NewEvent;
  readonly reply: Refused;
}

export interface Ports {
  /** The caller in the named workspace, and whether that exists. Refuses whoever may not name one. */
  enterWorkspace(principal: Principal, name: string): Promise<{ principal: Principal; exists: boolean }>;
  /** Asked before the tool is looked up, so that the catalogue cannot be probed. `toolset`: the only one on the path. */
  authorize(principal: Principal, name: string, args: unknown, toolset: Toolset | undefined): Promise<Verdict>;
  /** Refuses a session that is not the caller's own, in the same words whether or not it exists. */
  enterSession(principal: Principal, sessionId: string): Promise<void>;
  /** The session was heard of: by a call that named it. */
  touchSession(tx: Tx, sessionId: string): Promise<void>;
  observe(call: { name: string; surface: Surface; outcome: string; seconds: number }): void;
}

export interface DispatchOptions extends House {
  readonly registry: Registry;
  readonly ports: Ports;
  readonly timeoutMs: number;
  /** Holds every result against its contract. For tests: in service it would only turn a wrong answer into none. */
  readonly checkOutput: boolean;
}

interface Call extends CallRequest {
  readonly requestId: string;
  readonly started: number;
  readonly argsDigest: string | null;
  readonly noun: 'tool' | 'action';
  /** Events that the next write of this call must carry. */
  readonly trail: NewEvent[];
  /** Where a call that changed nothing is journaled: not in a workspace that does not exist. */
  journalIn: string;
  isNewWorkspace?: boolean;
  grant: { readonly id: string; readonly revision: number } | null;
  /** Set once it is known to be the caller's own. */
  session: string | null;
}

/** The one pipe: gate → find → parse → handle → journal → envelope. Authentication came before; surfaces only carry. */
export class Dispatch {
  readonly #o: DispatchOptions;

  readonly #deadlines = new Set<Deadline>();
  readonly #whenIdle: (() => void)[] = [];
  #underWay = 0;

  constructor(options: DispatchOptions) {
    this.#o = options;
  }

  tool(request: CallRequest): Promise<Answer> {
    return this.#carryOut(request, 'tool', (call) => this.#tool(call));
  }

  /** Administration and the dashboard: by role, not by grant. */
  action(request: CallRequest): Promise<Answer> {
    return this.#carryOut(request, 'action', (call) => this.#action(call));
  }

  /** Resolves when no call is under way. For a server that takes no more calls. */
  async idle(): Promise<void> {
    if (this.#underWay === 0) return;
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** Gives up what is still under way: each caller is told that the server is stopping. */
  shutDown(): void {
    for (const deadline of this.#deadlines) deadline.shutDown();
  }

  /** Whatever happens, the caller gets an answer in a documented shape. */
  async #carryOut(request: CallRequest, noun: Call['noun'], work: (call: Call) => Promise<Answer>): Promise<Answer> {
    this.#underWay++;
    const call = this.#begin(request, noun);
    try {
      return await work(await this.#inWorkspace(call));
    } catch (error) {
      const reply = replyTo(error, call.requestId);
      if (!isFault(reply)) return await this.#finish(call, undefined, reply);
      this.#o.log.error('call not carried out', { request: call.requestId, [noun]: call.name, error });
      return this.#answer(call, undefined, undefined, reply, 'error');
    } finally {
      if (--this.#underWay === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
  }

  async #tool(call: Call): Promise<Answer> {
    if (call.isNewWorkspace) return await this.#finish(call, undefined, noWorkspace(call));
    const verdict = await this.#authorize(call);
    if (!verdict.allowed) return await this.#finish(call, undefined, verdict.reply, 'denied');
    const tool = this.#o.registry.tool(call.name);
    const served = tool && (call.toolsets?.has(tool.toolset) ?? true);
    return served ? await this.#perform(call, tool) : await this.#finish(call, undefined, unknownTool(call, tool));
  }

  async #action(call: Call): Promise<Answer> {
    const action = this.#o.registry.action(call.name);
    if (!action) return await this.#finish(call, undefined, unknownAction(call.name));
    const denial = roleDenial(call.principal, action) ?? (call.isNewWorkspace && !opensWorkspace(action) ? noWorkspace(call) : undefined);
    if (denial) return await this.#finish(call, action, denial, 'denied');
    return await this.#perform(call, action);
  }

  #begin(request: CallRequest, noun: Call['noun']): Call {
    const now = this.#o.clock.now();
    return {
      ...request,
      name: boundedName(request.name),
      noun,
      requestId: newId('req', now),
      started: performance.now(),
      argsDigest: digest(request.args),
      trail: [],
      journalIn: request.principal.workspace,
      grant: null,
      session: null,
    };
  }

  async #inWorkspace(call: Call): Promise<Call> {
    if (call.workspace === undefined) return call;
    const { principal, exists } = await this.#o.ports.enterWorkspace(call.principal, call.workspace);
    return { ...call, principal, journalIn: exists ? principal.workspace : call.journalIn, isNewWorkspace: !exists };
  }

  async #authorize(call: Call): Promise<Verdict> {
    const first = await this.#o.ports.authorize(call.principal, call.name, call.args, onlyToolset(call));
    const { consume } = first.allowed ? first : {};
    if (!consume) call.trail.push(first.check);
    const verdict = consume
      ? await this.#o.store.write(call.principal.workspace, async (tx) => {
          const used = await consume(tx);
          tx.append(used.check);
          return used;
        })
      : first;
    if (verdict.allowed) call.grant = verdict.grant;
    return verdict;
  }

  async #perform(call: Call, tool: PublishedTool): Promise<Answer> {
    let implementation: Implementation | undefined;
    try {
      const selected = selectOperation(tool, call.args);
      implementation = selected.implementation;
      const input = parseInput(implementation.contract, selected.fields);
      const session = linksSession(implementation.contract) ? input[SESSION_FIELD] : undefined;
      if (typeof session === 'string') {
        await this.#o.ports.enterSession(call.principal, session);
        call.session = session;
      }
      return await this.#handle(call, tool, implementation, input);
    } catch (error) {
      const reply = replyTo(error, call.requestId);
      if (isFault(reply)) this.#o.log.error('call failed', { request: call.requestId, tool: call.name, error });
      return await this.#finish(call, tool, reply, undefined, implementation);
    }
  }

  async #handle(call: Call, tool: PublishedTool, implementation: Implementation, input: Record<string, unknown>): Promise<Answer> {
    const { handler } = implementation;
    using deadline = new Deadline(this.#o.timeoutMs, call.signal, this.#deadlines);
    const ctx = this.#context(call, deadline);
    let work: Promise<Reply<unknown>>;
    if ('write' in handler || 'begin' in handler) {
      const prepared = 'write' in handler && handler.prepare ? await deadline.race(handler.prepare(input, ctx)) : undefined;
      const made = await this.#writeWithTrail(
        call,
        async (tx) => {
          const first = await ('write' in handler ? handler.write(tx, input, ctx, prepared) : handler.begin(tx, input, ctx));
          if (first instanceof Begun) return first;
          for (const event of this.#records(call, implementation, this.#checked(implementation, first), first.status)) tx.append(event);
          return first;
        },
        deadline.signal,
      );
      if (!(made instanceof Begun)) return this.#answer(call, tool, implementation, made, made.status);
      if (!('act' in handler)) throw new Error(`${call.name} began what it cannot carry out`);
      work = handler.act(made.work, input, ctx);
    } else {
      work = 'read' in handler ? handler.read(input, ctx) : handler.run(input, ctx);
    }
    const reply = this.#checked(implementation, await deadline.race(work));
    return await this.#finish(call, tool, reply, undefined, implementation);
  }

  #context(call: Call, deadline: Deadline): CallContext {
    const { store, clock, log } = this.#o;
    return {
      principal: call.principal,
      workspace: call.principal.workspace,
      surface: call.surface,
      requestId: call.requestId,
      session: call.session,
      repository: call.repository ?? null,
      clock,
      log,
      reader: store.reader,
      get signal() {
        return deadline.signal;
      },
      write: (callback) => this.#writeWithTrail(call, callback, deadline.signal),
      settle: (callback) => this.#writeWithTrail(call, callback, undefined),
    };
  }

  /** The first write that commits carries the capability check. */
  async #writeWithTrail<T>(call: Call, callback: WriteCallback<T>, signal: AbortSignal | undefined): Promise<T> {
    const trail = call.trail.splice(0);
    try {
      return await this.#o.store.write(
        call.principal.workspace,
        async (tx) => {
          for (const event of trail) tx.append(event);
          if (call.session) await this.#o.ports.touchSession(tx, call.session);
          return await callback(tx);
        },
        signal,
      );
    } catch (error) {
      call.trail.unshift(...trail);
      throw error;
    }
  }

  #checked(implementation: Implementation, reply: Reply<unknown>): Reply<unknown> {
    if (!this.#o.checkOutput || reply.status !== 'ok') return reply;
    const result = implementation.contract.output.safeParse(reply.data);
    if (!result.success) throw new Error(`${implementation.contract.name} answered against its contract: ${result.error.message}`);
    return reply;
  }

  /** Journals the call, then answers: a call that was answered is on disk. */
  async #finish(
    call: Call,
    tool: PublishedTool | undefined,
    reply: Reply<unknown>,
    outcome: string = reply.status,
    implementation?: Implementation,
  ): Promise<Answer> {
    if (this.#isDashboardRead(call, implementation)) return this.#answer(call, tool, implementation, reply, outcome);
    try {
      await this.#o.store.append(call.journalIn, [...call.trail, ...this.#records(call, implementation, reply, outcome)]);
    } catch (error) {
      this.#o.log.error('call not journaled', { request: call.requestId, tool: call.name, error });
      return this.#answer(call, tool, implementation, replyTo(error, call.requestId), 'error');
    }
    return this.#answer(call, tool, implementation, reply, outcome);
  }

  /** A page that re-reads on events must not make events by reading. */
  #isDashboardRead(call: Call, implementation: Implementation | undefined): boolean {
    return call.surface === 'dashboard' && implementation?.contract.annotations.readOnlyHint === true;
  }

  /** One usage event whatever happened; a warning or block is also feedback, so that it can be looked up later. */
  #records(call: Call, implementation: Implementation | undefined, reply: Reply<unknown>, outcome: string): NewEvent[] {
    const usage = this.#usage(call, implementation, reply, outcome);
    if (reply.status !== 'warning' && reply.status !== 'blocked') return [usage];
    const payload = { type: reply.status === 'blocked' ? 'block' : 'warning', code: reply.code, message: reply.message, required_action: reply.next };
    return [usage, { ...usage, category: 'feedback', payload: { ...payload, request_id: call.requestId } }];
  }

  #usage(call: Call, implementation: Implementation | undefined, reply: Reply<unknown>, outcome: string): NewEvent {
    const operation = implementation?.contract.operation;
    return {
      category: 'usage',
      kind: operation ? `${call.name}.${operation}` : call.name,
      actor: call.principal.actor,
      subject: `${call.noun}:${call.name}`,
      session: call.session,
      // In the order of canonical JSON, which is then quick to write.
      payload: {
        arguments_sha256: call.argsDigest,
        code: reply.status === 'ok' ? undefined : reply.code,
        correlation: call.correlation,
        duration_ms: Math.round((performance.now() - call.started) * 10) / 10,
        grant: call.grant,
        outcome,
        request_id: call.requestId,
        surface: call.surface,
        token_id: call.principal.tokenId,
      },
    };
  }

  #answer(call: Call, tool: PublishedTool | undefined, implementation: Implementation | undefined, reply: Reply<unknown>, outcome: string): Answer {
    const seconds = (performance.now() - call.started) / 1000;
    this.#o.ports.observe({ name: tool?.name ?? 'unknown', surface: call.surface, outcome, seconds });
    const envelope = tool && outcome !== 'denied' ? tool.envelope : fallbackEnvelope(call);
    return { reply, isError: isError(reply), body: envelope.render(reply, implementation?.content), isToolResult: envelope.isToolResult === true };
  }
}

const MAX_NAME = 128;

/** A longer name is no tool's; what stands for it is no tool's either. */
const boundedName = (name: string): string => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name);

function digest(args: unknown): string | null {
  try {
    return hash('sha256', canonicalJson(args ?? {}));
  } catch {
    // Not canonical JSON (half a surrogate pair, nesting without end): the parser will refuse it by name.
    return null;
  }
}
