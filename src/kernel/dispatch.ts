import { hash } from 'node:crypto';
import { canonicalJson } from '../storage/canonical.ts';
import type { NewEvent } from '../storage/journal.ts';
import type { Tx, WriteCallback } from '../storage/write.ts';
import type { CallContext, House, Principal, Surface } from './context.ts';
import type { Toolset } from './contract.ts';
import { ENVELOPES, isError } from './envelope.ts';
import { isFault, Refusal, replyTo } from './errors.ts';
import { newId } from './ids.ts';
import { parseInput, selectOperation } from './input.ts';
import { namespaceOf } from './namespace.ts';
import type { PublishedTool } from './publish.ts';
import { accessOf, type Registry } from './registry.ts';
import { type Refused, type Reply, refused } from './reply.ts';
import type { Implementation } from './tool.ts';

export interface CallRequest {
  readonly name: string;
  readonly args: unknown;
  readonly principal: Principal;
  readonly surface: Surface;
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
  readonly consume?: (tx: Tx) => Promise<Denied | undefined>;
}
export interface Denied {
  readonly allowed: false;
  readonly check: NewEvent;
  readonly reply: Refused;
}

export interface Ports {
  /** Asked before the tool is looked up, so that the catalogue cannot be probed. */
  authorize(principal: Principal, name: string, args: unknown): Promise<Verdict>;
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
  grant: { readonly id: string; readonly revision: number } | null;
}

/** The one pipe: gate → find → parse → handle → journal → envelope. Authentication came before; surfaces only carry. */
export class Dispatch {
  readonly #o: DispatchOptions;

  #underWay = 0;
  #idle: (() => void) | undefined;

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
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }

  /** Whatever happens, the caller gets an answer in a documented shape. */
  async #carryOut(request: CallRequest, noun: Call['noun'], work: (call: Call) => Promise<Answer>): Promise<Answer> {
    this.#underWay++;
    const call = this.#begin(request, noun);
    try {
      return await work(call);
    } catch (error) {
      const reply = replyTo(error, call.requestId);
      this.#o.log.error('call not carried out', { request: call.requestId, [noun]: call.name, error });
      return this.#answer(call, undefined, undefined, reply, 'error');
    } finally {
      if (--this.#underWay === 0) this.#idle?.();
    }
  }

  async #tool(call: Call): Promise<Answer> {
    const verdict = await this.#authorize(call);
    if (!verdict.allowed) return await this.#finish(call, undefined, verdict.reply, 'denied');
    const tool = this.#o.registry.tool(call.name);
    if (!tool) return await this.#finish(call, undefined, unknownTool(call.name));
    if (call.toolsets && !call.toolsets.has(tool.toolset)) return await this.#finish(call, tool, elsewhere(tool));
    return await this.#perform(call, tool);
  }

  async #action(call: Call): Promise<Answer> {
    const action = this.#o.registry.action(call.name);
    if (!action) return await this.#finish(call, undefined, unknownAction(call.name));
    const denial = roleDenial(call.principal, action);
    if (denial) return await this.#finish(call, action, denial, 'denied');
    return await this.#perform(call, action);
  }

  #begin(request: CallRequest, noun: Call['noun']): Call {
    const now = this.#o.clock.now();
    return { ...request, noun, requestId: newId('req', now), started: performance.now(), argsDigest: digest(request.args), trail: [], grant: null };
  }

  async #authorize(call: Call): Promise<Verdict> {
    const verdict = await this.#o.ports.authorize(call.principal, call.name, call.args);
    if (verdict.allowed && verdict.consume) {
      const { consume } = verdict;
      const exhausted = await this.#o.store.write(call.principal.workspace, async (tx) => {
        const denied = await consume(tx);
        tx.append((denied ?? verdict).check);
        return denied;
      });
      if (exhausted) return exhausted;
      call.grant = verdict.grant;
      return verdict;
    }
    if (verdict.allowed) call.grant = verdict.grant;
    call.trail.push(verdict.check);
    return verdict;
  }

  async #perform(call: Call, tool: PublishedTool): Promise<Answer> {
    let implementation: Implementation | undefined;
    try {
      const selected = selectOperation(tool, call.args);
      implementation = selected.implementation;
      const input = parseInput(implementation.contract, selected.fields);
      return await this.#handle(call, tool, implementation, input);
    } catch (error) {
      const reply = replyTo(error, call.requestId);
      if (isFault(reply)) this.#o.log.error('call failed', { request: call.requestId, tool: call.name, error });
      return await this.#finish(call, tool, reply, undefined, implementation);
    }
  }

  async #handle(call: Call, tool: PublishedTool, implementation: Implementation, input: Record<string, unknown>): Promise<Answer> {
    const { handler } = implementation;
    using deadline = new Deadline(this.#o.timeoutMs, call.signal);
    const ctx = this.#context(call, deadline.signal);
    if ('write' in handler) {
      const reply = await this.#o.store.write(
        call.principal.workspace,
        async (tx) => {
          for (const event of call.trail) tx.append(event);
          const made = this.#checked(implementation, await handler.write(tx, input, ctx));
          for (const event of this.#records(call, implementation, made, made.status)) tx.append(event);
          return made;
        },
        deadline.signal,
      );
      return this.#answer(call, tool, implementation, reply, reply.status);
    }
    const work = 'read' in handler ? handler.read(input, ctx) : handler.run(input, ctx);
    const reply = this.#checked(implementation, await deadline.race(work));
    return await this.#finish(call, tool, reply, undefined, implementation);
  }

  #context(call: Call, signal: AbortSignal): CallContext {
    const { store, clock, log } = this.#o;
    return {
      principal: call.principal,
      workspace: call.principal.workspace,
      surface: call.surface,
      requestId: call.requestId,
      clock,
      log,
      reader: store.reader,
      signal,
      write: async <T>(callback: WriteCallback<T>): Promise<T> => {
        const trail = [...call.trail];
        const result = await store.write(
          call.principal.workspace,
          async (tx) => {
            for (const event of trail) tx.append(event);
            return await callback(tx);
          },
          signal,
        );
        call.trail.splice(0, trail.length);
        return result;
      },
    };
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
      await this.#o.store.append(call.principal.workspace, [...call.trail, ...this.#records(call, implementation, reply, outcome)]);
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
      kind: operation ? `${call.name}.${operation}` : call.name.slice(0, MAX_NAME),
      actor: call.principal.actor,
      subject: `${call.noun}:${call.name.slice(0, MAX_NAME)}`,
      payload: {
        request_id: call.requestId,
        token_id: call.principal.tokenId,
        surface: call.surface,
        outcome,
        code: reply.status === 'ok' ? undefined : reply.code,
        duration_ms: Math.round((performance.now() - call.started) * 10) / 10,
        arguments_sha256: call.argsDigest,
        grant: call.grant,
        correlation: call.correlation,
      },
    };
  }

  #answer(call: Call, tool: PublishedTool | undefined, implementation: Implementation | undefined, reply: Reply<unknown>, outcome: string): Answer {
    const seconds = (performance.now() - call.started) / 1000;
    this.#o.ports.observe({ name: tool?.name ?? 'unknown', surface: call.surface, outcome, seconds });
    const envelope = tool && outcome !== 'denied' ? tool.envelope : ENVELOPES[fallbackToolset(call.name)];
    return { reply, isError: isError(reply), body: envelope.render(reply, implementation?.content), isToolResult: envelope.isToolResult === true };
  }
}

const MAX_NAME = 128;

/** What is said before a tool is known has the team envelope, except to the cycle contract's own names. */
const fallbackToolset = (name: string): Toolset => (namespaceOf(name) === 'cycle' ? 'cycle' : 'team');

/** The cycle contract has a code of its own for this. */
function unknownTool(name: string): Refused {
  const code = namespaceOf(name) === 'cycle' ? 'INVALID_TOOL' : 'UNKNOWN_TOOL';
  return refused('error', code, `There is no tool ${JSON.stringify(name.slice(0, MAX_NAME))}.`, 'List the tools to see their names.');
}

function digest(args: unknown): string | null {
  try {
    return hash('sha256', canonicalJson(args ?? {}));
  } catch {
    // Not canonical JSON (half a surrogate pair, nesting without end): the parser will refuse it by name.
    return null;
  }
}

/** Gives a call up after its time, or when its caller has gone before its turn came. */
class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #ms: number;
  readonly #caller: AbortSignal | undefined;
  #expire: (() => void) | undefined;

  constructor(ms: number, caller: AbortSignal | undefined) {
    this.#ms = ms;
    this.#caller = caller;
    this.#timer = setTimeout(() => {
      this.#controller.abort();
      this.#expire?.();
    }, ms);
    caller?.addEventListener('abort', this.#callerGone);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly #callerGone = (): void => this.#controller.abort();

  async race<T>(work: Promise<T>): Promise<T> {
    const expired = new Promise<never>((_, reject) => {
      this.#expire = () =>
        reject(new Refusal('TOOL_TIMEOUT', `The call took longer than ${this.#ms} ms and was given up.`, 'Read the state, then call again.'));
    });
    return await Promise.race([work, expired]);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#callerGone);
  }
}

function elsewhere(tool: PublishedTool): Refused {
  return refused('error', 'UNKNOWN_TOOL', `${tool.name} is not served on this path.`, `Connect to /mcp/${tool.toolset} or /mcp/all.`);
}

function unknownAction(name: string): Refused {
  return refused(
    'error',
    'UNKNOWN_ACTION',
    `There is no action ${JSON.stringify(name.slice(0, MAX_NAME))}.`,
    'Use a covenant of the same version as the server.',
  );
}

function roleDenial(principal: Principal, action: PublishedTool): Refused | undefined {
  const access = accessOf(action);
  if (principal.operator) return undefined;
  if (access === 'member' && principal.web) return undefined;
  return refused(
    'error',
    'OPERATOR_REQUIRED',
    `${action.name} is for the operator of this server.`,
    'Run it with the covenant command on the server, or sign in as its first developer.',
  );
}
