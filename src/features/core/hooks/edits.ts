import { type CallContext, record, type WriteContext } from '../../../kernel/call.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import type { Tx } from '../../../storage/write.ts';
import { MAX_EDITS, TOP } from '../../../wire/hook-question.ts';
import { type ClaimView, type EditConflict, editConflicts, holderOf, nextStep, viewsFor } from '../../team/coordination/index.ts';
import { DENIED_EDIT } from '../events/index.ts';
import { type HookContext, runsAround } from './context.ts';
import type { RunQuestion } from './contract.ts';
import { ownClaimFilter } from './ownership.ts';
import { denialKey, denialsOf, deniedSince, saveRun } from './store.ts';
import { plainPath, quoted } from './words.ts';

/** The maximum number of files in the message of a denial and in the journal. */
const MAX_NAMED = 10;
const MAX_HOLDERS = 3;
/** If an agent retries within this time, it is denied again, but the denial is not recorded again. */
const REPEATED_MS = 60_000;
const MAX_REMEMBERED = 50;
const PATH_BYTES = 300;

const NOT_MADE: Partial<Record<RunQuestion['event'], string>> = { commit: 'This commit was not made', push: 'This push was not made' };

/** Returns the reason why this agent may not write the files, and records the denial. Returns undefined if the agent may write them. */
export async function findDenial(ctx: CallContext, question: RunQuestion, hook: HookContext): Promise<string | undefined> {
  const now = ctx.clock.now();
  const found = await editConflicts(ctx.reader, ctx.workspace, question.edits ?? [], ownClaimFilter(ctx.principal, hook, question), now);
  if (found.length === 0) return undefined;
  const read = found.filter(({ unread }) => !unread);
  const conflicts = read.length > 0 ? read : found;
  const show = await viewsFor(ctx.reader, ctx.principal, now);
  const named = conflicts.slice(0, MAX_NAMED);
  if ((await unrecordedConflicts(ctx.reader, ctx, hook.run, named, now)).length > 0) await ctx.write((tx) => recordDenials(tx, ctx, question, hook, named));
  const held = conflicts.map((conflict) => ({ what: claimedOf(conflict), view: show.claim(conflict.claim) }));
  const lines = held.slice(0, MAX_NAMED).map(({ what, view }) => `${what}: claimed (exclusive) by ${heldUntil(view)}`);
  const more = held.length > lines.length ? [`and ${held.length - lines.length} more`] : [];
  const steps = [...Map.groupBy(held, ({ view }) => holderOf(view)).values()].slice(0, MAX_HOLDERS).map((theirs) => {
    const [{ view }] = theirs as [(typeof theirs)[number]];
    return nextStep(view, ctx.principal, Math.max(...theirs.map((each) => each.view.expires_at)));
  });
  const why = read.length > 0 ? '' : `${UNREAD} `;
  return `${NOT_MADE[question.event] ?? 'This edit was not made'}. ${why}${[...lines, ...more].join('; ')}. ${[...new Set(steps)].join(' ')}`;
}

const UNREAD = `The command is too long to check in full, or names more than ${MAX_EDITS} files. Name fewer files in one command, and write long texts with your file tool. Then only claimed files are denied.`;

/** Describes what is claimed: for a folder, the claimed path inside it, and otherwise the path itself. */
function claimedOf({ path, within }: EditConflict): string {
  const name = path === TOP ? 'the repository' : plainPath(path);
  return within === undefined ? name : `${plainPath(within)} in ${name}`;
}

const heldUntil = (view: ClaimView): string =>
  `${holderOf(view)} until ${new Date(view.expires_at).toISOString()}${view.reason === null ? '' : `, for ${quoted(view.reason, 200)}`}`;

const keptPath = (path: string): string => excerpt(path, PATH_BYTES);
const keyOf = ({ path, claim }: EditConflict): string => denialKey(claim.id, keptPath(path));

/**
 * Returns the conflicts that were not recorded recently. A run stores its own recent denials. A git hook belongs to no run, so
 * its denials are looked up in the journal.
 */
async function unrecordedConflicts(
  db: Db,
  { workspace, principal }: Pick<WriteContext, 'workspace' | 'principal'>,
  run: HookContext['run'],
  conflicts: readonly EditConflict[],
  now: number,
): Promise<EditConflict[]> {
  const claims = conflicts.map(({ claim }) => claim.id);
  const known = run ? denialsOf(run) : await deniedSince(db, workspace, principal.actor, claims, now - REPEATED_MS);
  return conflicts.filter((conflict) => Math.abs(now - (known[keyOf(conflict)] ?? Number.NEGATIVE_INFINITY)) >= REPEATED_MS);
}

async function recordDenials(
  tx: Tx,
  ctx: WriteContext,
  question: RunQuestion,
  { run, sessionId }: HookContext,
  conflicts: readonly EditConflict[],
): Promise<void> {
  const current = run && (await runsAround(tx.db, ctx, run.client_session, tx.now)).run;
  const fresh = await unrecordedConflicts(tx.db, ctx, current, conflicts, tx.now);
  for (const { claim, path } of fresh) {
    const payload = { claim_id: claim.id, path: keptPath(path), client: question.client, tool: question.tool ?? null, outcome: 'denied' };
    record(tx, { ...ctx, session: sessionId }, { category: 'work', kind: DENIED_EDIT, subject: claim.id, payload });
  }
  if (!current) return;
  const recent = Object.entries({ ...denialsOf(current), ...Object.fromEntries(fresh.map((conflict) => [keyOf(conflict), tx.now])) });
  const kept = recent.filter(([, at]) => Math.abs(tx.now - at) < REPEATED_MS).slice(-MAX_REMEMBERED);
  await saveRun(tx, { ...current, denials: JSON.stringify(Object.fromEntries(kept)) });
}
