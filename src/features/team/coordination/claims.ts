import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput, notFound, ok, Refusal, type Refused, refused } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, insertRows, newId } from '../../../storage/rows.ts';
import type { ClaimRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper, PRIVATE } from '../../core/identity/index.ts';
import { fileConflicts, markFiles, unmarkFiles } from '../overlap/index.ts';
import { activeSessions } from '../sessions/index.ts';
import { type Claimed, type ClaimScope, conflict, intersection, literalPaths, sameAgent } from './conflicts.ts';
import { type ClaimView, type ConflictView, checkConflicts, claim, release, releaseByHand } from './contract.ts';
import { boundedDetails, claimDetails } from './event-details.ts';
import { recordExpiredClaims } from './lease.ts';
import { viewsFor } from './present.ts';
import { claimedBy, claimNamed, liveClaimRows, readStrings } from './store.ts';

const DEFAULT_TTL_MINUTES = 60;
const MINUTE = 60_000;
/** The limit per developer. It is needed because each new claim is compared with every live claim inside the write transaction. */
export const MAX_LIVE_CLAIMS = 200;
/** A reply lists at most this many conflicting claims in full. */
const MAX_CONFLICTS = 20;

/** Called for each new claim, in the claim's transaction. */
export type ClaimListener = (tx: Tx, ctx: WriteContext, claim: { sessionId: string | null; files: string[] }) => Promise<void>;

export function claimTools(onClaim: ClaimListener): Implementation[] {
  return [
    implement(claim, {
      write: async (tx, input, ctx) => {
        const developerId = callingDeveloper(ctx.principal);
        await requireOpenSession(tx, ctx);
        const scope = scopeOf(input, ctx);
        const live = await liveClaimRows(tx.db, tx.workspace, tx.now);
        const held = findOwnClaim(live, { actor: ctx.principal.actor, sessionId: ctx.session }, scope);
        const mode = input.mode ?? held?.mode ?? 'exclusive';
        const requested: Claimed = { ...scope, mode, actor: ctx.principal.actor, sessionId: ctx.session ?? held?.session_id ?? null };
        const others = live.filter((row) => row.id !== held?.id && conflict(requested, claimedBy(row)));
        if (others.length > 0) return conflictReply('blocked', others, await conflictViews(tx.db, others, requested, ctx.principal, tx.now), ctx.principal);
        if (!held && live.filter((row) => row.developer_id === developerId).length >= MAX_LIVE_CLAIMS) {
          throw new Refusal(
            'CLAIM_LIMIT',
            `You hold ${MAX_LIVE_CLAIMS} live claims, the maximum for one developer.`,
            'Call covibe_coordination with operation "list" and what "claims", then operation "release" with the claim_id of a claim that you no longer need. Or claim one pattern for several paths.',
          );
        }
        await recordExpiredClaims(tx);
        const ttl = input.ttl_minutes ?? held?.ttl_minutes ?? DEFAULT_TTL_MINUTES;
        const row: ClaimRow = {
          workspace_id: tx.workspace,
          id: held?.id ?? newId('claim', tx.now),
          developer_id: developerId,
          actor: requested.actor,
          agent_type: ctx.principal.agentType,
          session_id: requested.sessionId,
          repo: scope.repo,
          paths: JSON.stringify(scope.paths),
          symbols: JSON.stringify(scope.symbols),
          mode,
          reason: input.reason ?? held?.reason ?? null,
          ttl_minutes: ttl,
          created_at: held?.created_at ?? tx.now,
          expires_at: tx.now + ttl * MINUTE,
          released_at: null,
          expired_at: null,
        };
        if (held) await changeRows(tx.db, 'claims', { workspace_id: tx.workspace, id: held.id }, row);
        else await insertRows(tx.db, 'claims', row);
        await markClaimed(tx, row);
        const payload = { claim_id: row.id, mode, ttl_minutes: ttl, expires_at: row.expires_at, ...boundedDetails({ ...scope, reason: row.reason }) };
        record(tx, ctx, { category: 'work', kind: held ? 'claim.renewed' : 'claim.made', subject: row.id, payload });
        const files = literalPaths(scope.paths);
        if (!held && files.length > 0) await onClaim(tx, ctx, { sessionId: row.session_id, files });
        return ok(
          { claim_id: row.id, expires_at: row.expires_at, mode, renewed: held !== undefined },
          `${held ? 'Renewed' : 'Claimed'} until ${time(row.expires_at)}. Your heartbeats renew it. Release it when you are done.`,
        );
      },
    }),
    implement(release, {
      write: async (tx, { claim_id }, ctx) => {
        const row = await findRow(tx.db, 'claims', { workspace_id: tx.workspace, id: claim_id });
        if (row?.developer_id !== callingDeveloper(ctx.principal)) throw claimNotFound('claim_id', claim_id);
        const ended = endOf(row, tx.now);
        if (ended) {
          const again = `Nothing to release. To claim the code again, call covibe_coordination with operation "claim", repo ${JSON.stringify(row.repo)} and the same paths.`;
          return refused('warning', ended.code, ended.message, again, { claim_id });
        }
        await releaseClaim(tx, ctx, row);
        return ok({ claim_id }, 'Released.');
      },
    }),
    implement(releaseByHand, {
      write: async (tx, { claim_id }, ctx) => {
        const row = await claimNamed(tx.db, tx.workspace, claim_id);
        if (!mayRelease(row, ctx.principal)) {
          throw new Refusal(
            'OPERATOR_REQUIRED',
            'Another developer holds this claim.',
            `Ask the holder to release it. An operator can run: covenant claims release ${row.id}`,
          );
        }
        const ended = endOf(row, tx.now);
        if (ended) throw new Refusal(ended.code, ended.message, 'Nothing to do.');
        await releaseClaim(tx, ctx, row);
        return ok({ claim_id: row.id }, 'Released.');
      },
    }),
    implement(checkConflicts, {
      read: async (input, ctx) => {
        const now = ctx.clock.now();
        const scope = scopeOf(input, ctx);
        const requested: Claimed = { ...scope, mode: input.mode ?? 'exclusive', actor: ctx.principal.actor, sessionId: ctx.session };
        const live = await liveClaimRows(ctx.reader, ctx.workspace, now);
        const others = live.filter((row) => conflict(requested, claimedBy(row)));
        const question = { files: literalPaths(scope.paths), repo: scope.repo, viewer: ctx.principal, now, except: live.map(({ id }) => id) };
        const data = {
          conflicts: await conflictViews(ctx.reader, others, requested, ctx.principal, now),
          file_conflicts: await fileConflicts(ctx.reader, ctx.workspace, question),
        };
        return others.length > 0 ? conflictReply('warning', others, data.conflicts, ctx.principal, data) : ok(data, 'No other agent has a conflicting claim.');
      },
    }),
  ];
}

export async function liveClaims(db: Db, workspace: string, viewer: Principal, now: number): Promise<ClaimView[]> {
  const show = await viewsFor(db, viewer, now);
  return (await liveClaimRows(db, workspace, now)).map(show.claim);
}

/** Marks the files of a claim as in use until its lease ends. */
export async function markClaimed(tx: Tx, row: ClaimRow): Promise<void> {
  const files = literalPaths(readStrings(row.paths));
  if (files.length === 0) return;
  const holder = { source: 'claim', sourceId: row.id, developerId: row.developer_id, repo: row.repo, action: null } as const;
  await markFiles(tx, { ...holder, label: row.reason ?? `${row.mode} claim`, expiresAt: row.expires_at }, files);
}

/** A developer may release the claims of their own agents; an operator may release any. */
export const mayRelease = (row: ClaimRow, { developerId, operator }: Principal): boolean => operator || row.developer_id === developerId;

function endOf(row: ClaimRow, now: number): { code: string; message: string } | undefined {
  if (row.released_at !== null) return { code: 'CLAIM_ALREADY_RELEASED', message: 'This claim is already released.' };
  // Once the end of a claim is recorded, it is final, even if the clock was set back afterwards.
  if (row.expired_at !== null || row.expires_at <= now) return { code: 'CLAIM_EXPIRED', message: `This claim expired at ${time(row.expires_at)}.` };
  return undefined;
}

export async function releaseClaim(tx: Tx, ctx: WriteContext, row: ClaimRow): Promise<void> {
  await changeRows(tx.db, 'claims', { workspace_id: tx.workspace, id: row.id }, { released_at: tx.now });
  await unmarkFiles(tx, 'claim', row.id);
  record(tx, ctx, { category: 'work', kind: 'claim.released', subject: row.id, payload: claimDetails(row) });
}

/** Releases the claims of a session when the session ends. */
export async function releaseClaimsOf(tx: Tx, ctx: WriteContext, sessionId: string): Promise<{ released_claims: number }> {
  const held = (await liveClaimRows(tx.db, tx.workspace, tx.now)).filter(({ session_id }) => session_id === sessionId);
  for (const row of held) await releaseClaim(tx, ctx, row);
  return { released_claims: held.length };
}

/** Refuses claims for a session that has ended, because nothing would release them. */
export async function requireOpenSession(tx: Tx, { session }: WriteContext): Promise<void> {
  if (session === null || (await activeSessions(tx.db, tx.workspace, [session], tx.now)).has(session)) return;
  throw new Refusal(
    'SESSION_ENDED',
    `Session ${session} has ended, so it cannot hold claims.`,
    'Call covibe_session with operation "start" and use its session_id.',
    {
      field: 'session_id',
    },
  );
}

/** Somebody else's claim gets the same message as a missing one, so that nobody can probe for ids. */
export const claimNotFound = (field: string, id: string): Refusal =>
  notFound(
    'CLAIM_NOT_FOUND',
    `Claim ${JSON.stringify(id)} does not exist or is not yours.`,
    'Call covibe_coordination with operation "list" and what "claims" to see your claims.',
    field,
  );

function scopeOf({ repo: named, paths = [], symbols = [] }: Input<typeof checkConflicts>, { place }: Pick<WriteContext, 'place'>): ClaimScope {
  const repo = named ?? place?.repo;
  if (!repo) throw invalidInput([{ field: 'repo', message: 'is required, because your client reports no repository' }]);
  if (paths.length + symbols.length === 0) throw invalidInput([{ field: 'paths', message: 'name at least one path or symbol' }]);
  return { repo, paths: [...new Set(paths)], symbols: [...new Set(symbols)] };
}

/** Finds the agent's own live claim with exactly this scope. A claim from the current session is preferred. */
function findOwnClaim(live: readonly ClaimRow[], agent: { actor: string; sessionId: string | null }, scope: ClaimScope): ClaimRow | undefined {
  const key = ({ repo, paths, symbols }: ClaimScope) => JSON.stringify([repo, [...paths].sort(), [...symbols].sort()]);
  const same = live.filter((row) => {
    const claimed = claimedBy(row);
    return sameAgent(agent, claimed) && key(claimed) === key(scope);
  });
  return same.find((row) => row.session_id === agent.sessionId) ?? same[0];
}

async function conflictViews(db: Db, rows: readonly ClaimRow[], requested: Claimed, viewer: Principal, now: number): Promise<ConflictView[]> {
  const show = await viewsFor(db, viewer, now);
  return rows.slice(0, MAX_CONFLICTS).map((row) => ({
    ...show.claim(row),
    meets: intersection(requested, claimedBy(row)),
    refuses: row.mode === 'exclusive' ? ['exclusive', 'shared'] : ['exclusive'],
  }));
}

function conflictReply<T extends Record<string, unknown>>(
  status: 'blocked' | 'warning',
  all: readonly ClaimRow[],
  conflicts: readonly ConflictView[],
  caller: Principal,
  data?: T,
): Refused<T | { conflicts: readonly ConflictView[] }> {
  const [first] = conflicts as [ConflictView];
  const what = [...first.meets.paths, ...first.meets.symbols];
  const more = all.length > 1 ? ` ${all.length - 1} more conflicting claim(s).` : '';
  const last = Math.max(...all.map(({ expires_at }) => expires_at));
  const message = `Claimed by ${holderOf(first)} (${first.mode}) until ${time(first.expires_at)}: ${what.slice(0, 3).join(', ')}${what.length > 3 ? ', …' : ''}.${more}`;
  return refused(status, 'CLAIM_CONFLICT', message, nextStep(first, caller, last), data ?? { conflicts });
}

type Holder = Pick<ClaimView, 'developer' | 'agent_type' | 'own'>;

export const holderOf = ({ own, agent_type, developer }: Holder): string => (own ? `${agent_type ?? 'another agent'} of yours` : developer);

/**
 * The next step after a conflict. If the holder is private, the caller can only wait, because private developers cannot be addressed. Another
 * agent of the caller's own developer can be addressed only by its agent type.
 */
export function nextStep(first: Holder, caller: Principal, last: number): string {
  const wait = `wait until ${time(last)}, or work on other files.`;
  if (first.developer === PRIVATE || (first.own && (first.agent_type === null || first.agent_type === caller.agentType))) return `W${wait.slice(1)}`;
  const to = first.own ? `${first.agent_type}@${first.developer}` : first.developer;
  return `Ask the holder: covibe_coordination with operation "ask", to ${JSON.stringify(to)} and a message. Or ${wait}`;
}

const time = (at: number): string => new Date(at).toISOString();
