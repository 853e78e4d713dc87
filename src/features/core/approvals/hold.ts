import type { Services } from '../../../kernel/call.ts';
import { APPROVAL_PREFIX, APPROVAL_QUESTION, type HeldCall, type HoldOutcome, type Ports, withoutApproval } from '../../../kernel/ports.ts';
import type { Exchange } from '../../../kernel/relay.ts';
import type { Refused } from '../../../kernel/reply.ts';
import { countRows, insertRows, newId } from '../../../storage/rows.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import { isTokenLive } from '../identity/index.ts';
import { askedResult, question, readAnswer, takesForms } from './asking.ts';
import { approvalEvent, decide, lapse, spendApproval } from './decide.ts';
import { DecisionWatch } from './decision-watch.ts';
import { isApprovable, keepArguments } from './kept-arguments.ts';
import { notReadable, notTheirs, refusedByPerson, tokenGone, tooMany, undecided } from './refusals.ts';
import { findApproval, openApprovalOf, type SameCall } from './store.ts';

/** More than a person can look through, and a bound on what an agent can pile up. */
const MAX_WAITING = 20;
const PROGRESS_MS = 10_000;
/** So small that the progress of the call itself, which counts from 0 or 1, still counts up from it. */
const PROGRESS_STEP = 0.001;

export interface ApprovalParts {
  /** Which external server a tool or prompt is of; null for the product's own. */
  readonly serverOf: (workspace: string, noun: string, name: string) => string | null;
  /** How long a person has to decide. */
  readonly deadlineMs: number;
}

export function createHold(services: Services, parts: ApprovalParts): Ports['hold'] {
  const watch = new DecisionWatch(services);
  return (call) => new Hold(services, parts, watch, call).outcome();
}

const refuse = (reply: Refused): HoldOutcome => ({ state: 'refused', reply });

/** One call that waits for a person. */
class Hold {
  readonly #services: Services;
  readonly #parts: ApprovalParts;
  readonly #watch: DecisionWatch;
  readonly #call: HeldCall;
  readonly #workspace: string;
  /** What the client was told last of how it goes on; 0: nothing. */
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
    if (!same) return refuse(notReadable());
    const state = this.#call.exchange?.rounds?.requestState;
    if (state?.startsWith(APPROVAL_PREFIX)) {
      const row = await this.#answered(same, state.slice(APPROVAL_PREFIX.length));
      return (row && (await this.#settled(row, false))) ?? refuse(notTheirs());
    }
    for (;;) {
      const row = await this.#open(same);
      if (!row) return refuse(tooMany(MAX_WAITING));
      const held = await this.#settled(row, true);
      if (held) return held;
      // An equal call was let through by it: this one needs an approval of its own.
    }
  }

  #sameCall(): SameCall | undefined {
    const { argsDigest, asked, grantId, principal } = this.#call;
    if (argsDigest === null || !isApprovable(asked.args)) return undefined;
    return { token_id: principal.tokenId, noun: asked.noun, name: asked.name, arguments_sha256: argsDigest, grant_id: grantId };
  }

  /** The approval of this call that is open, or a new one. Undefined: too many of this caller's wait. */
  async #open(same: SameCall): Promise<ApprovalRow | undefined> {
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

  /** The approval that the client was asked about, with its answer taken. Undefined: not of this call. */
  async #answered(same: SameCall, id: string): Promise<ApprovalRow | undefined> {
    const row = await findApproval(this.#services.store.reader, this.#workspace, id);
    if (!row || (Object.keys(same) as (keyof SameCall)[]).some((key) => row[key] !== same[key])) return undefined;
    return (
      (await this.#take(row, this.#call.exchange?.rounds?.inputResponses?.[APPROVAL_QUESTION])) ??
      (await findApproval(this.#services.store.reader, this.#workspace, id))
    );
  }

  /** The client's word, where the grant takes it, it is one, and the first. */
  async #take(row: ApprovalRow, given: unknown): Promise<ApprovalRow | undefined> {
    // Whoever holds the token could answer for itself.
    if (this.#call.approver !== 'client') return undefined;
    const answer = readAnswer(given);
    if (!answer) return undefined;
    const decision = { approve: answer === 'approve', by: this.#call.principal.actor, through: 'elicitation', reason: null };
    return await this.#services.store.write(this.#workspace, async (tx) => {
      const now = await findApproval(tx.db, tx.workspace, row.id);
      return now && (await decide(tx, now, decision, this.#parts.deadlineMs));
    });
  }

  /** What became of it. Undefined: it was used up by another call. */
  async #settled(row: ApprovalRow, mayAsk: boolean): Promise<HoldOutcome | undefined> {
    const { exchange } = this.#call;
    const asks = mayAsk && this.#call.approver === 'client' && exchange !== undefined && takesForms(exchange);
    // A client that can be asked while the call waits hears of it, too, when somebody else was quicker.
    if (row.status === 'waiting' && asks && exchange.rounds && !exchange.ask) return { state: 'asked', result: askedResult(row) };
    const decided = row.status === 'waiting' ? await this.#decision(row, asks ? exchange.ask : undefined) : row;
    switch (decided.status) {
      case 'approved':
        return await this.#use(decided);
      case 'refused':
        return refuse(refusedByPerson(decided));
      case 'lapsed':
        return refuse(undecided(decided));
      default:
        return undefined;
    }
  }

  async #use({ id }: ApprovalRow): Promise<HoldOutcome | undefined> {
    const { principal, signal } = this.#call;
    const used = await this.#services.store.write(
      this.#workspace,
      async (tx) => {
        if (!(await isTokenLive(tx.db, principal.tokenId, tx.now))) return 'token gone';
        return await spendApproval(tx, id, principal.actor);
      },
      signal,
    );
    if (used === 'token gone') return refuse(tokenGone());
    return used ? { state: 'approved', approvalId: id, exchange: this.#handedOn() } : undefined;
  }

  /** Waits until somebody has decided, wherever, or nobody has in time; at most as long as the caller does. */
  async #decision({ id }: ApprovalRow, ask: Exchange['ask']): Promise<ApprovalRow> {
    const { store, clock } = this.#services;
    const { signal } = this.#call;
    let ring = () => {};
    const onAbort = () => ring();
    signal.addEventListener('abort', onAbort);
    const asking = new AbortController();
    const unwatch = await this.#watch.of(this.#workspace, id, () => ring());
    try {
      let told = clock.now();
      for (let first = true; ; first = false) {
        signal.throwIfAborted();
        // Before it is looked up: what is decided between the look and the wait must not be slept through.
        const woken = new Promise<void>((resolve) => {
          ring = resolve;
        });
        const row = await findApproval(store.reader, this.#workspace, id);
        if (!row) throw new Error(`approval ${id} is gone`);
        if (row.status !== 'waiting') return row;
        const now = clock.now();
        if (now >= row.deadline_at) {
          const lapsed = await store.write(this.#workspace, (tx) => lapse(tx, id));
          if (lapsed && lapsed.status !== 'waiting') return lapsed;
          continue;
        }
        if (first && ask) this.#askClient(row, ask, AbortSignal.any([signal, asking.signal]));
        if (now - told >= PROGRESS_MS) {
          told = now;
          this.#tell(row, now);
        }
        await woken;
      }
    } finally {
      unwatch();
      asking.abort();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Its answer is a decision like any other, and heard of like any other. A client that fails to ask leaves it to the others. */
  #askClient(row: ApprovalRow, ask: NonNullable<Exchange['ask']>, signal: AbortSignal): void {
    const { log } = this.#services;
    ask('elicitation/create', question(row), signal)
      .then((answer) => this.#take(row, answer))
      .catch((error) => signal.aborted || log.info('the client could not ask its user', { approval: row.id, error }));
  }

  #tell(row: ApprovalRow, now: number): void {
    const { exchange } = this.#call;
    if (!exchange?.progress) return;
    this.#progress += PROGRESS_STEP;
    const left = Math.ceil((row.deadline_at - now) / 1000);
    exchange.progress({
      progress: this.#progress,
      message: `Waiting for a person to approve this call of ${row.name}: on the dashboard, or with covenant approvals approve ${row.id} (${left} s left).`,
    });
  }

  /** The caller's side for the call itself: without what it brought for us, and with progress that still only rises. */
  #handedOn(): Exchange | undefined {
    const { exchange } = this.#call;
    if (!exchange) return undefined;
    const last = this.#progress;
    const { progress } = exchange;
    const rising = progress && last > 0 ? { progress: (params: Record<string, unknown>) => Number(params.progress) > last && progress(params) } : {};
    return { ...withoutApproval(exchange), ...rising };
  }
}
