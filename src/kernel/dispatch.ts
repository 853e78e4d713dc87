import { OutcomeUnknown } from '../storage/errors.ts';
import type { Tx, WriteCallback } from '../storage/write.ts';
import { Admission, type PrecheckFailure } from './admission.ts';
import {
  argumentsDigest,
  type Call,
  type CallAnswer,
  type CallContext,
  type CallRequest,
  callRecords,
  Deadline,
  Deferred,
  pauseDeadlineWhileAsking,
  type RelayRequest,
  type Services,
} from './call.ts';
import { fallbackEnvelope, noWorkspace, opensWorkspace, unknownAction, withNearest } from './early-refusals.ts';
import { isFault, replyTo } from './failure.ts';
import type { Ports } from './ports.ts';
import type { PublishedTool } from './publish.ts';
import { linksSession, parseInput, type Registry, SESSION_FIELD, selectOperation, storableName, toolNamed } from './registry.ts';
import { isInputRequired, type Json, outcomeOf, type RelayContext, UpstreamError } from './relay.ts';
import { ENVELOPES, isError, ok, type Refused, type Reply } from './reply.ts';
import { freshDenial, roleDenial } from './roles.ts';
import type { Implementation } from './tool.ts';
import { beginCallSpan, RequestScope, recordCallSpan, requestIdAt, withSpan } from './trace.ts';

interface DispatchOptions extends Services {
  readonly registry: Registry;
  readonly ports: Ports;
  readonly timeoutMs: number;
  /** The maximum age of a dashboard sign-in for an action that needs a fresh one. */
  readonly freshSignInMs: number;
  /** Validates every result against its contract. Only for tests: in production, a slightly wrong result is better than an error. */
  readonly checkOutput: boolean;
}

/**
 * Processes every call in the same order: check the grants, find the tool, parse the input, run the handler, write the journal,
 * render the response. The caller is authenticated before. HTTP, MCP and the CLI only transport calls.
 */
export class Dispatch {
  readonly #o: DispatchOptions;
  readonly #admission: Admission;
  readonly #deadlines = new Set<Deadline>();
  readonly #whenIdle: (() => void)[] = [];
  #underWay = 0;

  constructor(options: DispatchOptions) {
    this.#o = options;
    this.#admission = new Admission(options, this.#deadlines);
  }

  tool(request: CallRequest): Promise<CallAnswer> {
    return this.#carryOut(request, 'tool', (call) => this.#tool(call));
  }

  /** A resource or prompt of another server. */
  relay(request: RelayRequest): Promise<CallAnswer> {
    return this.#carryOut(request, request.noun, async (call) => {
      const refusal = await this.#admit(call, () => {
        const refused = request.precheck?.();
        return refused && { refused: replyTo(refused, call.requestId), tool: undefined };
      });
      if (refusal) return refusal;
      // Set only after admission, because the record of a denied call must not reveal which server owns the prompt.
      call.server = request.server;
      return await this.#relay(call, request.timeoutMs, request.work);
    });
  }

  /** Runs an action of the CLI or the dashboard. Actions are authorized by the caller's role, not by grants. */
  action(request: CallRequest): Promise<CallAnswer> {
    return this.#carryOut(request, 'action', (call) => this.#action(call));
  }

  /** Resolves when no call is in progress. Use this after the server has stopped accepting calls. */
  async idle(): Promise<void> {
    if (this.#underWay === 0) return;
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** Ends the calls in progress. Each caller receives SHUTTING_DOWN. */
  shutDown(): void {
    for (const deadline of this.#deadlines) deadline.shutDown();
  }

  /** Turns every failure into an answer in a documented shape. */
  async #carryOut(request: CallRequest, noun: Call['noun'], work: (call: Call) => Promise<CallAnswer>): Promise<CallAnswer> {
    this.#underWay++;
    const call = this.#begin(request, noun);
    try {
      return await call.scope.run(() => this.#withinQuota(call, work));
    } finally {
      call.scope.span?.end();
      call.scope.end();
      if (call.growth.events > 0) this.#o.ports.journalQuota.grew(call.principal, call.growth.events);
      if (--this.#underWay === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
  }

  #begin(request: CallRequest, noun: Call['noun']): Call {
    const redactedArgs = this.#o.registry.redactedArgs(noun, request.name, request.args, request);
    const requestId = requestIdAt(this.#o.clock.now());
    return {
      ...request,
      redactedArgs,
      name: storableName(noun === 'tool' ? toolNamed(request.name) : request.name),
      noun,
      requestId,
      scope: new RequestScope({ request: requestId, span: beginCallSpan(this.#o.ports.tracer, noun, request) }),
      started: performance.now(),
      argsDigest: argumentsDigest(redactedArgs),
      trail: [],
      growth: { events: 0 },
      journalIn: request.principal.workspace,
      grant: null,
      approval: null,
      // Hides the server of a relay request until the call is admitted.
      server: undefined,
      counted: false,
      exchange: request.exchange,
      session: null,
    };
  }

  async #withinQuota(begun: Call, work: (call: Call) => Promise<CallAnswer>): Promise<CallAnswer> {
    let call = begun;
    try {
      call = await this.#inWorkspace(call);
      // The quota does not apply to actions of operators, because operators must always be able to revoke a token.
      const isAdministration = call.noun === 'action' && call.principal.operator;
      const exceeded = isAdministration ? undefined : await this.#o.ports.journalQuota.exceeded(begun.principal);
      call.overQuota = exceeded !== undefined;
      if (!exceeded || this.#o.registry.isEssential(call)) return await work(call);
      // This refusal is not journaled, because its event would add to the journal that the quota protects.
      this.#o.ports.countRefusal(call.principal, exceeded.code);
      return this.#answer(call, undefined, undefined, exceeded, 'denied');
    } catch (error) {
      const reply = replyTo(error, call.requestId, call);
      if (!isFault(reply)) return await this.#finish(call, undefined, reply);
      this.#o.log.error('call failed before it could start', { [call.noun]: call.name, error });
      return await this.#answer(call, undefined, undefined, reply, 'error');
    }
  }

  async #inWorkspace(call: Call): Promise<Call> {
    if (call.workspace === undefined) return call;
    const { principal, exists } = await this.#o.ports.enterWorkspace(call.principal, call.workspace);
    return { ...call, principal, journalIn: exists ? principal.workspace : call.journalIn, isNewWorkspace: !exists };
  }

  async #tool(call: Call): Promise<CallAnswer> {
    const refusal = await this.#admit(call, () => this.#admission.precheck(call));
    if (refusal) return refusal;
    const tool = this.#admission.find(call);
    if ('refused' in tool) return await this.#finish(call, undefined, await withNearest(call, tool.refused, this.#o));
    if (!('server' in tool)) return await this.#perform(call, tool);
    const args = (call.args ?? {}) as Json;
    return await this.#relay(call, tool.timeoutMs, (ctx) => tool.call(args, ctx));
  }

  async #action(call: Call): Promise<CallAnswer> {
    const action = this.#o.registry.action(call.name);
    if (!action) return await this.#finish(call, undefined, unknownAction(call.name));
    const denial =
      roleDenial(call.principal, action) ??
      freshDenial(call.principal, action, this.#o.clock.now(), this.#o.freshSignInMs) ??
      (call.isNewWorkspace && !opensWorkspace(action) ? noWorkspace(call) : undefined);
    if (denial) return await this.#finish(call, action, denial, 'denied');
    return await this.#perform(call, action);
  }

  /** Returns the answer if the call is not admitted, or undefined if the call may continue. */
  async #admit(call: Call, precheck: () => PrecheckFailure | undefined = () => undefined): Promise<CallAnswer | undefined> {
    if (call.isNewWorkspace) return await this.#finish(call, undefined, noWorkspace(call));
    const stop = await withSpan('gate', 'internal', {}, () => this.#admission.admit(call, precheck));
    if (!stop) return undefined;
    if ('asked' in stop) return await this.#finishRelay(call, stop.asked);
    const reply = await withNearest(call, stop.refused, this.#o);
    return 'tool' in stop ? await this.#finish(call, stop.tool, reply) : await this.#finish(call, undefined, reply, stop.outcome);
  }

  async #perform(call: Call, tool: PublishedTool): Promise<CallAnswer> {
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
      return await withSpan('handler', 'internal', {}, () => this.#handle(call, tool, selected.implementation, input));
    } catch (error) {
      const reply = replyTo(error, call.requestId, call);
      if (isFault(reply)) this.#o.log.error('call failed', { tool: call.name, error });
      return await this.#finish(call, tool, reply, undefined, implementation);
    }
  }

  async #handle(call: Call, tool: PublishedTool, implementation: Implementation, input: Record<string, unknown>): Promise<CallAnswer> {
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
          if (first instanceof Deferred) return first;
          for (const event of callRecords(call, implementation.contract.operation, this.#checked(implementation, first), first.status)) tx.append(event);
          return first;
        },
        deadline.signal,
      );
      if (!(made instanceof Deferred)) return await this.#answer(call, tool, implementation, made, made.status);
      if (!('act' in handler)) throw new Error(`${call.name} returned deferred work but its handler has no act function`);
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
      place: call.place ?? null,
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

  /** Runs a write of the call. The first write that commits also stores the event of the capability check. */
  async #writeWithTrail<T>(call: Call, callback: WriteCallback<T>, signal: AbortSignal | undefined): Promise<T> {
    const trail = call.trail.splice(0);
    let appended = 0;
    try {
      const result = await this.#o.store.write(
        call.principal.workspace,
        async (shared) => {
          appended = 0;
          const append: Tx['append'] = (event) => {
            appended++;
            return shared.append(event);
          };
          const tx = { ...shared, append };
          for (const event of trail) tx.append(event);
          if (call.session) await this.#o.ports.touchSession(tx, call.session);
          return await callback(tx);
        },
        signal,
      );
      call.kept = true;
      call.growth.events += appended;
      return result;
    } catch (error) {
      // The commit may have happened. If the refusal cannot be journaled either, the second error must not claim that nothing was written.
      if (error instanceof OutcomeUnknown) call.kept = true;
      call.trail.unshift(...trail);
      throw error;
    }
  }

  #checked(implementation: Implementation, reply: Reply<unknown>): Reply<unknown> {
    if (!this.#o.checkOutput || reply.status !== 'ok') return reply;
    const result = implementation.contract.output.safeParse(reply.data);
    if (!result.success) throw new Error(`${implementation.contract.name} returned a result that violates its contract: ${result.error.message}`);
    return reply;
  }

  async #relay(call: Call, timeoutMs: number, work: (ctx: RelayContext) => Promise<Json>): Promise<CallAnswer> {
    try {
      await this.#admission.writeAhead(call);
      using deadline = new Deadline(timeoutMs, call.signal, this.#deadlines);
      const exchange = call.exchange && pauseDeadlineWhileAsking(call.exchange, deadline);
      const ctx: RelayContext = { signal: deadline.signal, exchange, requestId: call.requestId, log: this.#o.log };
      const result = await deadline.race(work(ctx));
      call.kept = true;
      return await this.#finishRelay(call, isInputRequired(result) ? await this.#admission.suspend(call, result) : result);
    } catch (error) {
      const reply = replyTo(error, call.requestId, call);
      if (isFault(reply)) this.#o.log.error('relay failed', { [call.noun]: call.name, error });
      const answer = await this.#finish(call, undefined, reply, 'failed');
      return error instanceof UpstreamError ? { ...answer, relayed: { error: error.rpc } } : answer;
    }
  }

  async #finishRelay(call: Call, result: Json): Promise<CallAnswer> {
    const reply = ok(result);
    const failure = await this.#journal(call, reply, outcomeOf(result));
    if (failure) return await this.#answer(call, undefined, undefined, failure, 'error');
    this.#observe(call, reply, outcomeOf(result), true);
    return { requestId: call.requestId, reply, isError: result.isError === true, body: result, isToolResult: true, relayed: { result } };
  }

  /** Journals the call before it is answered, so that every answered call is on disk. */
  async #finish(
    call: Call,
    tool: PublishedTool | undefined,
    reply: Reply<unknown>,
    outcome: string = reply.status,
    implementation?: Implementation,
  ): Promise<CallAnswer> {
    if (isError(reply)) call.circumstances = await this.#circumstances(call);
    const failure = this.#isUnkept(call, implementation, reply) ? undefined : await this.#journal(call, reply, outcome, implementation);
    if (failure) return await this.#answer(call, tool, implementation, failure, 'error');
    return await this.#answer(call, tool, implementation, reply, outcome);
  }

  async #journal(call: Call, reply: Reply<unknown>, outcome: string, implementation?: Implementation): Promise<Refused | undefined> {
    if (call.overQuota && reply.status === 'error') {
      this.#o.ports.countRefusal(call.principal, reply.code);
      return undefined;
    }
    try {
      const events = [...call.trail, ...callRecords(call, implementation?.contract.operation, reply, outcome)];
      await this.#o.store.append(call.journalIn, events);
      call.growth.events += events.length;
      return undefined;
    } catch (error) {
      this.#o.log.error('call not journaled', { [call.noun]: call.name, error });
      return replyTo(error, call.requestId, call);
    }
  }

  /** Undefined if the facts cannot be read, because the caller must get its answer anyway. */
  async #circumstances({ noun, name, principal }: Call): Promise<Record<string, string> | undefined> {
    const toolset = noun === 'tool' ? this.#o.registry.toolsetOf(name) : undefined;
    if (!toolset) return undefined;
    try {
      return await this.#o.ports.circumstances?.(principal, { name, toolset });
    } catch (error) {
      this.#o.log.warn('work state of failed call not read', { tool: name, error });
      return undefined;
    }
  }

  /** Whether the call is not journaled. The dashboard reloads its data on each event, so its reads must not create events. */
  #isUnkept(call: Call, implementation: Implementation | undefined, reply: Reply<unknown>): boolean {
    const { annotations, quiet } = implementation?.contract ?? {};
    return (call.surface === 'dashboard' && annotations?.readOnlyHint === true) || (quiet === true && reply.status === 'ok');
  }

  async #answer(
    call: Call,
    tool: PublishedTool | undefined,
    implementation: Implementation | undefined,
    made: Reply<unknown>,
    outcome: string,
  ): Promise<CallAnswer> {
    const known = tool !== undefined || call.server !== undefined;
    const reply = await this.#redacted(call, implementation, made);
    this.#observe(call, reply, outcome, known);
    const envelope = outcome === 'denied' || !known ? fallbackEnvelope(call) : (tool?.envelope ?? ENVELOPES.gateway);
    // A denied call is a failure, whatever the status of its refusal.
    const failed = isError(reply) || outcome === 'denied';
    return {
      requestId: call.requestId,
      reply,
      isError: failed,
      body: envelope.render(reply, { tool: call.name, instance: call.principal.instanceId, content: implementation?.content }),
      isToolResult: envelope.isToolResult === true,
    };
  }

  /** If redaction fails, the caller gets a refusal instead of the answer. */
  async #redacted(call: Call, implementation: Implementation | undefined, reply: Reply<unknown>): Promise<Reply<unknown>> {
    try {
      const redacted = await this.#o.ports.redact(call.principal, reply, call.args);
      return implementation ? this.#checked(implementation, redacted) : redacted;
    } catch (error) {
      this.#o.log.error('answer not redacted', { [call.noun]: call.name, error });
      return replyTo(error, call.requestId, call);
    }
  }

  #observe(call: Call, reply: Reply<unknown>, outcome: string, known: boolean): void {
    const { name, noun, surface, started, scope } = call;
    this.#o.ports.observe({ name: known ? name : 'unknown', surface, outcome, seconds: (performance.now() - started) / 1000 });
    if (!scope.span) return;
    const toolset = known && noun === 'tool' ? this.#o.registry.toolsetOf(name) : undefined;
    recordCallSpan(scope.span, call, { known, toolset, outcome, reply });
  }
}
