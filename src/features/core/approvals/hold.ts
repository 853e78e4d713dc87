import type { Services } from '../../../kernel/call.ts';
import { APPROVAL_PREFIX, APPROVAL_QUESTION, type HeldCall, type HoldOutcome, type Ports, withoutApproval } from '../../../kernel/ports.ts';
import type { Exchange } from '../../../kernel/relay.ts';
import type { Refused } from '../../../kernel/reply.ts';
import { countRows, insertRows, newId } from '../../../storage/rows.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import { isTokenLive } from '../identity/index.ts';
import { approvalQuestion, canAskByForm, inputRequiredResult, readAnswer } from './asking.ts';
import { DecisionWatch } from './decision-watch.ts';
import { isApprovable, keepArguments } from './kept-arguments.ts';
import { approvalEvent, decide, lapseIfOverdue, spendApproval } from './lifecycle.ts';
import { approvalTimedOut, approvalUnknown, argumentsUnreadable, refusedByPerson, tokenRevoked, tooManyApprovals } from './refusals.ts';
import { findApproval, openApprovalOf, type SameCall } from './store.ts';

/** The maximum number of waiting calls per token. It is more than a person can review, and limits what one agent can queue. */
const MAX_WAITING = 20;
const PROGRESS_MS = 10_000;
/** The step is so small that the progress of the call itself, which starts at 0 or 1, is still higher after the wait. */
const PROGRESS_STEP = 0.001;

export interface ApprovalParts {
  /** Returns the external server of a tool or prompt, or null for a tool of Covenant itself. */
  readonly serverOf: (workspace: string, noun: string, name: string) => string | null;
  /** The time that a person has to decide, in milliseconds. */
  readonly deadlineMs: number;
}

export function createHold(services: Services, parts: ApprovalParts): Ports['hold'] {
  const watch = new DecisionWatch(services);
  return (call) => new Hold(services, parts, watch, call).outcome();
}

const refuse = (reply: Refused): HoldOutcome => ({ state: 'refused', reply });

/** Handles one call that waits until a person approves it. */
class Hold {
  readonly #services: Services;
  readonly #parts: ApprovalParts;
  readonly #watch: DecisionWatch;
  readonly #call: HeldCall;
  readonly #workspace: string;
  /** The progress that was last reported to the client, or 0 if none was reported. */
  #progress = 0;

  constructor(services: Services, parts: ApprovalParts, watch: DecisionWatch, call: HeldCall) {
    this.#services = services;
    this.#parts = parts;
    this.#watch = watch;
    this.#call = call;
    this.#workspace = call.principal.workspace;
  }

  async outcome(): Promise<HoldOutcome> {
    const same = this.#sameCall();
    if (!same) return refuse(argumentsUnreadable());
    const state = this.#call.exchange?.rounds?.requestState;
    if (state?.startsWith(APPROVAL_PREFIX)) {
      const row = await this.#answeredApproval(same, state.slice(APPROVAL_PREFIX.length));
      return (row && (await this.#outcomeOf(row, { mayAsk: false }))) ?? refuse(approvalUnknown());
    }
    for (;;) {
      const row = await this.#openApproval(same);
      if (!row) return refuse(tooManyApprovals(MAX_WAITING));
      const held = await this.#outcomeOf(row, { mayAsk: true });
      if (held) return held;
      // An equal call has used this approval, so this call needs a new approval.
    }
  }

  #sameCall(): SameCall | undefined {
    const { argsDigest, asked, grantId, principal } = this.#call;
    if (argsDigest === null || !isApprovable(asked.args)) return undefined;
    return { token_id: principal.tokenId, noun: asked.noun, name: asked.name, arguments_sha256: argsDigest, grant_id: grantId };
  }

  /** Returns the open approval of this call, or creates one. Returns undefined if the caller has too many waiting calls. */
  async #openApproval(same: SameCall): Promise<ApprovalRow | undefined> {
    const { principal, asked, requestId, signal } = this.#call;
    return await this.#services.store.write(
      this.#workspace,
      async (tx) => {
        const open = await openApprovalOf(tx.db, tx.workspace, same, tx.now);
        if (open) return open;
        const waiting = { workspace_id: tx.workspace, token_id: same.token_id, status: 'waiting', deadline_at: { '>': tx.now } } as const;
        if ((await countRows(tx.db, 'approvals', waiting)) >= MAX_WAITING) return undefined;
        const row: ApprovalRow = {
          workspace_id: tx.workspace,
          id: newId('apr', tx.now),
          ...same,
          server: this.#parts.serverOf(tx.workspace, same.noun, same.name),
          arguments: keepArguments(asked.redactedArgs),
          developer_id: principal.developerId,
          actor: principal.actor,
          request_id: requestId,
          status: 'waiting',
          created_at: tx.now,
          deadline_at: tx.now + this.#parts.deadlineMs,
          decided_at: null,
          decided_by: null,
          decided_through: null,
          reason: null,
          used_at: null,
        };
        await insertRows(tx.db, 'approvals', row);
        tx.append(approvalEvent('requested', row, principal.actor));
        return row;
      },
      signal,
    );
  }

  /**
   * Returns the approval that the client was asked about, after applying the client's answer. Returns undefined if it is not an
   * approval of this call.
   */
  async #answeredApproval(same: SameCall, id: string): Promise<ApprovalRow | undefined> {
    const row = await findApproval(this.#services.store.reader, this.#workspace, id);
    if (!row || (Object.keys(same) as (keyof SameCall)[]).some((key) => row[key] !== same[key])) return undefined;
    return (
      (await this.#takeAnswer(row, this.#call.exchange?.rounds?.inputResponses?.[APPROVAL_QUESTION])) ??
      (await findApproval(this.#services.store.reader, this.#workspace, id))
    );
  }

  /** Applies the client's answer if the grant allows the client to answer, the answer is valid and nobody has decided before. */
  async #takeAnswer(row: ApprovalRow, given: unknown): Promise<ApprovalRow | undefined> {
    // The client's answer counts only if the grant says so. Otherwise an agent that has the token could approve its own call.
    if (this.#call.approver !== 'client') return undefined;
    const answer = readAnswer(given);
    if (!answer) return undefined;
    const decision = { approve: answer === 'approve', by: this.#call.principal.actor, through: 'elicitation', reason: null };
    return await this.#services.store.write(this.#workspace, async (tx) => {
      const now = await findApproval(tx.db, tx.workspace, row.id);
      return now && (await decide(tx, now, decision, this.#parts.deadlineMs));
    });
  }

  /** Returns undefined if another call has used the approval. */
  async #outcomeOf(row: ApprovalRow, { mayAsk }: { readonly mayAsk: boolean }): Promise<HoldOutcome | undefined> {
    const { exchange } = this.#call;
    const asks = mayAsk && this.#call.approver === 'client' && exchange !== undefined && canAskByForm(exchange);
    // If the client can be asked during the call, this is better, because the call then also ends when another person decides first.
    if (row.status === 'waiting' && asks && exchange.rounds && !exchange.ask) return { state: 'asked', result: inputRequiredResult(row) };
    const decided = row.status === 'waiting' ? await this.#waitForDecision(row, asks ? exchange.ask : undefined) : row;
    switch (decided.status) {
      case 'approved':
        return await this.#spendApproved(decided);
      case 'refused':
        return refuse(refusedByPerson(decided));
      case 'lapsed':
        return refuse(approvalTimedOut(decided));
      default:
        return undefined;
    }
  }

  async #spendApproved({ id }: ApprovalRow): Promise<HoldOutcome | undefined> {
    const { principal, signal } = this.#call;
    const used = await this.#services.store.write(
      this.#workspace,
      async (tx) => {
        if (!(await isTokenLive(tx.db, principal.tokenId, tx.now))) return 'token gone';
        return await spendApproval(tx, id, principal.actor);
      },
      signal,
    );
    if (used === 'token gone') return refuse(tokenRevoked(principal));
    return used ? { state: 'approved', approvalId: id, exchange: this.#exchangeForCall() } : undefined;
  }

  /** Waits until any process records a decision, until the deadline, or until the caller stops waiting. */
  async #waitForDecision({ id }: ApprovalRow, ask: Exchange['ask']): Promise<ApprovalRow> {
    const { store, clock } = this.#services;
    const { signal } = this.#call;
    let wake = () => {};
    const onAbort = () => wake();
    signal.addEventListener('abort', onAbort);
    const asking = new AbortController();
    const unwatch = await this.#watch.watch(this.#workspace, id, () => wake());
    try {
      let reportedAt = clock.now();
      for (let first = true; ; first = false) {
        signal.throwIfAborted();
        // The promise is created before the lookup, so that a decision between the lookup and the wait is not missed.
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const row = await findApproval(store.reader, this.#workspace, id);
        if (!row) throw new Error(`approval ${id} is gone`);
        if (row.status !== 'waiting') return row;
        const now = clock.now();
        if (now >= row.deadline_at) {
          const lapsed = await store.write(this.#workspace, (tx) => lapseIfOverdue(tx, id));
          if (lapsed && lapsed.status !== 'waiting') return lapsed;
          continue;
        }
        if (first && ask) this.#askClient(row, ask, AbortSignal.any([signal, asking.signal]));
        if (now - reportedAt >= PROGRESS_MS) {
          reportedAt = now;
          this.#reportProgress(row, now);
        }
        await woken;
      }
    } finally {
      unwatch();
      asking.abort();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Asks the client without waiting. Its answer is stored as a decision, which wakes this call like any other decision. If the
   * client cannot ask its user, people at the server decide.
   */
  #askClient(row: ApprovalRow, ask: NonNullable<Exchange['ask']>, signal: AbortSignal): void {
    const { log } = this.#services;
    ask('elicitation/create', approvalQuestion(row), signal)
      .then((answer) => this.#takeAnswer(row, answer))
      .catch((error) => signal.aborted || log.info('the client could not ask its user', { approval: row.id, error }));
  }

  #reportProgress(row: ApprovalRow, now: number): void {
    const { exchange } = this.#call;
    if (!exchange?.progress) return;
    this.#progress += PROGRESS_STEP;
    const left = Math.ceil((row.deadline_at - now) / 1000);
    exchange.progress({
      progress: this.#progress,
      message: `Waiting for a person to approve this call of ${row.name} on the dashboard or with \`covenant approvals approve ${row.id}\` (${left} s left).`,
    });
  }

  /** Returns the exchange for the call itself. It does not contain the answer to the approval question, and its progress only rises. */
  #exchangeForCall(): Exchange | undefined {
    const { exchange } = this.#call;
    if (!exchange) return undefined;
    const last = this.#progress;
    const { progress } = exchange;
    const rising = progress && last > 0 ? { progress: (params: Record<string, unknown>) => Number(params.progress) > last && progress(params) } : {};
    return { ...withoutApproval(exchange), ...rising };
  }
}
