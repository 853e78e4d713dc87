import { type CallContext, record, type WriteContext } from '../../kernel/context.ts';
import { excerpt } from '../../kernel/excerpt.ts';
import type { Tx } from '../../storage/write.ts';
import { type ClaimView, type EditConflict, editConflicts, holderOf, nextStep, presenterFor } from '../coordination/index.ts';
import { ownClaims, type Question, runsAround, type Standing } from './standing.ts';
import { denialsOf, saveRun } from './store.ts';
import { named, quoted } from './words.ts';

/** So many files a denial tells of, and the journal with it. */
const MOST_NAMED = 10;
const MOST_HOLDERS = 3;
/** An agent that tries again at once is denied again, and told of once. */
const REPEATED_MS = 60_000;
const MOST_REMEMBERED = 50;
const PATH_BYTES = 300;

const WHAT: Partial<Record<Question['event'], string>> = { commit: 'This commit was not made', push: 'This push was not made' };

/** Why the files are not this agent's to write, which is on record; undefined where they are. */
export async function denialOf(ctx: CallContext, question: Question, standing: Standing): Promise<string | undefined> {
  const now = ctx.clock.now();
  const conflicts = await editConflicts(ctx.reader, ctx.workspace, question.edits ?? [], ownClaims(ctx.principal, standing, question.person), now);
  if (conflicts.length === 0) return undefined;
  const show = await presenterFor(ctx.reader, ctx.workspace, ctx.principal, now);
  const told = conflicts.slice(0, MOST_NAMED);
  if (standing.run === undefined || unrecorded(standing.run, told, now).length > 0) await ctx.write((tx) => recordDenials(tx, ctx, question, standing, told));
  const held = conflicts.map(({ path, claim }) => ({ path, view: show.claim(claim) }));
  const lines = held.slice(0, MOST_NAMED).map(({ path, view }) => `${named(path)}: claimed (exclusive) by ${heldUntil(view)}`);
  const more = held.length > lines.length ? [`and ${held.length - lines.length} more`] : [];
  const steps = [...Map.groupBy(held, ({ view }) => holderOf(view)).values()].slice(0, MOST_HOLDERS).map((theirs) => {
    const [{ view }] = theirs as [(typeof theirs)[number]];
    return nextStep(view, ctx.principal, Math.max(...theirs.map((each) => each.view.expires_at)));
  });
  return `${WHAT[question.event] ?? 'This edit was not made'}. ${[...lines, ...more].join('; ')}. ${[...new Set(steps)].join(' ')}`;
}

const heldUntil = (view: ClaimView): string =>
  `${holderOf(view)} until ${new Date(view.expires_at).toISOString()}${view.reason === null ? '' : `, for ${quoted(view.reason, 200)}`}`;

const keyOf = ({ path, claim }: EditConflict): string => `${claim.id} ${path}`;

const unrecorded = (run: NonNullable<Standing['run']>, conflicts: readonly EditConflict[], now: number): EditConflict[] => {
  const known = denialsOf(run);
  return conflicts.filter((conflict) => Math.abs(now - (known[keyOf(conflict)] ?? Number.NEGATIVE_INFINITY)) >= REPEATED_MS);
};

async function recordDenials(tx: Tx, ctx: WriteContext, question: Question, { run, sessionId }: Standing, conflicts: readonly EditConflict[]): Promise<void> {
  const current = run && (await runsAround(tx.db, ctx, run.client_session, tx.now)).run;
  const fresh = current ? unrecorded(current, conflicts, tx.now) : conflicts;
  for (const { claim, path } of fresh) {
    const payload = { claim_id: claim.id, path: excerpt(path, PATH_BYTES), client: question.client, tool: question.tool ?? null, outcome: 'denied' };
    record(tx, { ...ctx, session: sessionId }, { category: 'work', kind: 'edit.denied', subject: claim.id, payload });
  }
  if (!current) return;
  const recent = Object.entries({ ...denialsOf(current), ...Object.fromEntries(fresh.map((conflict) => [keyOf(conflict), tx.now])) });
  const kept = recent.filter(([, at]) => Math.abs(tx.now - at) < REPEATED_MS).slice(-MOST_REMEMBERED);
  await saveRun(tx, { ...current, denials: JSON.stringify(Object.fromEntries(kept)) });
}
