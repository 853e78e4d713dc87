import type { NewEvent } from '../storage/journal.ts';
import type { Store } from '../storage/open.ts';
import { type Call, Deadline, onlyToolset } from './call.ts';
import type { Toolset } from './contract.ts';
import { unknownTool } from './early-refusals.ts';
import { replyTo } from './failure.ts';
import { type AccessDecision, type AccessRequest, APPROVAL_PREFIX, type Ports, ROUND_PREFIX, type Round, withoutApproval } from './ports.ts';
import type { PublishedTool } from './publish.ts';
import { parseInput, type Registry, selectOperation } from './registry.ts';
import { type ExternalTool, type Json, roundUnknown } from './relay.ts';
import type { Refused } from './reply.ts';

/**
 * The reason why admission stops a call: the call is refused, or the caller's client is asked a question. If the tool is known,
 * its envelope determines the format of the refusal.
 */
type Stop = PrecheckFailure | { readonly refused: Refused; readonly outcome: 'denied' | undefined } | { readonly asked: Json };
/** A refusal that the call would get even with an approval. */
export interface PrecheckFailure {
  readonly refused: Refused;
  readonly tool: PublishedTool | undefined;
}

/** Longer than any approval deadline. The approvals feature enforces the real deadline. */
const LONGEST_HOLD_MS = 25 * 3_600_000;

interface Parts {
  readonly registry: Registry;
  readonly ports: Ports;
  readonly store: Store;
}

/** Decides whether a call may run. The gate checks the grants. If the grant requires approval, a person decides as well. */
export class Admission {
  readonly #registry: Registry;
  readonly #ports: Ports;
  readonly #store: Store;
  readonly #deadlines: Set<Deadline>;

  constructor({ registry, ports, store }: Parts, deadlines: Set<Deadline>) {
    this.#registry = registry;
    this.#ports = ports;
    this.#store = store;
    this.#deadlines = deadlines;
  }

  /** `precheck` runs only for a caller who has the grant, because its answer reveals which tools exist. */
  async admit(call: Call, precheck: () => PrecheckFailure | undefined): Promise<Stop | undefined> {
    const asked = accessRequestOf(call);
    const { principal, argsDigest, requestId, exchange } = call;
    const token = exchange?.rounds?.requestState;
    const round = token?.startsWith(ROUND_PREFIX) ? await this.#ports.resume(principal, asked, argsDigest, token) : undefined;
    if (token?.startsWith(ROUND_PREFIX) && !round) throw roundUnknown();
    if (round) applyRound(call, round);

    const first = await this.#ports.authorize(principal, asked, { resumed: round?.grantId });
    if (!first.allowed || !first.approve) {
      // Removes the caller's answer to an approval question, because the grant does not require approval any more.
      if (call.exchange && !round) call.exchange = withoutApproval(call.exchange);
      return await this.#use(call, first);
    }
    await this.writeAhead(call, first.check);
    // No person is asked to approve a call that would be refused anyway.
    const refused = precheck();
    if (refused) return refused;
    const grantId = first.grant?.id as string;
    using waiting = new Deadline(LONGEST_HOLD_MS, call.signal, this.#deadlines);
    const held = await waiting.race(
      this.#ports.hold({ principal, asked, argsDigest, grantId, approver: first.approve, requestId, exchange, signal: waiting.signal }),
    );
    if (held.state === 'refused') return { refused: held.reply, outcome: 'denied' };
    if (held.state === 'asked') return { asked: held.result };
    call.approval = held.approvalId;
    call.exchange = held.exchange;
    call.counted = true;
    // The grant may have been revoked while the call waited.
    return await this.#use(call, await this.#ports.authorize(principal, asked, { approved: grantId }));
  }

  /** Must be called only if the caller has the grant, because the result reveals whether the tool exists. */
  find(call: Call): PublishedTool | ExternalTool | { readonly refused: Refused } {
    const tool = this.#registry.tool(call.name) ?? this.#registry.external(call.principal.workspace).tool(call.name);
    const served = tool && (call.toolsets?.has(tool.toolset) ?? true);
    if (!served) return { refused: this.#notServed(call, tool) };
    if (tool.toolset === 'gateway') call.server = 'server' in tool ? tool.server : 'native';
    return tool;
  }

  /** The refusal that this call would get even after a person approved it. */
  precheck(call: Call): PrecheckFailure | undefined {
    const tool = this.find(call);
    if ('refused' in tool) return { refused: tool.refused, tool: undefined };
    if ('server' in tool) return undefined;
    try {
      const { implementation, fields } = selectOperation(tool, call.args);
      parseInput(implementation.contract, fields);
      return undefined;
    } catch (error) {
      return { refused: replyTo(error, call.requestId), tool };
    }
  }

  #notServed(call: Call, elsewhere: { toolset: Toolset } | undefined): Refused {
    const withheld = elsewhere ? undefined : this.#registry.external(call.principal.workspace).withheld(call.name);
    return withheld ? replyTo(withheld, call.requestId) : unknownTool(call, elsewhere);
  }

  /** Journals the checks before slow or external work, because this process may crash before that work ends. */
  async writeAhead(call: Call, ...checks: NewEvent[]): Promise<void> {
    call.trail.push(...checks);
    if (call.trail.length === 0) return;
    const trail = [...call.trail];
    await this.#store.append(call.journalIn, trail);
    call.growth.events += trail.length;
    // Only after the append: if it fails, these events still have to be written.
    call.trail.splice(0, trail.length);
  }

  /**
   * Replaces the `requestState` of the other server with a Covenant token. The caller sends the token back in the next round of
   * this call, so that the round does not count as another use of the grant.
   */
  async suspend(call: Call, result: Json): Promise<Json> {
    const requestState = typeof result.requestState === 'string' ? result.requestState : undefined;
    const looksOurs = requestState?.startsWith(ROUND_PREFIX) || requestState?.startsWith(APPROVAL_PREFIX);
    if (!call.grant || (!call.counted && !looksOurs)) return result;
    const round: Round = { grantId: call.grant.id, approvalId: call.approval, requestState };
    return { ...result, requestState: await this.#ports.suspend(call.principal, accessRequestOf(call), call.argsDigest, round) };
  }

  /** If the grant counts its uses, checks the grant and counts this use in one transaction. */
  async #use(call: Call, first: AccessDecision): Promise<Stop | undefined> {
    const { consume } = first.allowed ? first : {};
    if (!consume) call.trail.push(first.check);
    const verdict = consume
      ? await this.#store.write(call.principal.workspace, async (tx) => {
          const used = await consume(tx);
          tx.append(used.check);
          return used;
        })
      : first;
    if (consume) call.growth.events++;
    if (!verdict.allowed) return { refused: verdict.reply, outcome: 'denied' };
    call.grant = verdict.grant;
    if (consume) call.counted = true;
    return undefined;
  }
}

function accessRequestOf(call: Call): AccessRequest {
  if (call.noun === 'action') throw new Error('actions are not authorized by capabilities');
  return { noun: call.noun, name: call.name, args: call.args, redactedArgs: call.redactedArgs, toolset: onlyToolset(call), aside: call.aside };
}

function applyRound(call: Call, { approvalId, requestState }: Round): void {
  call.approval = approvalId;
  call.counted = true;
  const inputResponses = call.exchange?.rounds?.inputResponses;
  if (call.exchange) call.exchange = { ...call.exchange, rounds: { inputResponses, requestState } };
}
