import type { CallContext, Principal } from '../../../kernel/context.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import { openAsks } from '../../team/coordination/index.ts';
import { beginningsOf, openQuestionThreads, undeliveredThreads } from '../messages/index.ts';
import type { listThreads } from './contract.ts';
import { courseOf, type Found, involves, kindOf, momentOf, newestFirst, repositoryOf, withFacts } from './found.ts';
import { isIn, PRESSING_MS, rankOf } from './standing.ts';
import { threadViews } from './view.ts';

type Wanted = Input<typeof listThreads>;

/** Who has more of them than this has the first of them to look at first. */
const MOST_PRESSING = 100;
/** What is looked through for them, of each kind. */
const CONSIDERED = 200;
/** A page that finds little says where to read on, instead of reading all there is. */
const MOST_EXAMINED = 2_000;

export async function readThreads({ reader, principal, clock }: CallContext, wanted: Wanted): Promise<Output<typeof listThreads>> {
  const now = clock.now();
  const isWanted = (found: Found): boolean =>
    (wanted.kind === undefined || kindOf(found) === wanted.kind) &&
    (wanted.repo === undefined || repositoryOf(found) === wanted.repo) &&
    (!wanted.mine || involves(found, principal));
  const all = (await pressingOf(reader, principal, now)).filter((found) => isWanted(found) && isIn(wanted.state, courseOf(found), now));
  const pressing = all.slice(0, MOST_PRESSING);
  // Each once: what stands above does not stand below, also not on a later page.
  const above = new Set(pressing.map(({ row }) => row.id));
  const { items, next } = await pageOf(reader, principal, now, wanted, (found) => isWanted(found) && !above.has(found.row.id));
  const first = wanted.before === undefined;
  return {
    pressing: first ? await threadViews(reader, principal, now, pressing) : [],
    pressing_cut: first && all.length > MOST_PRESSING,
    items: await threadViews(reader, principal, now, items),
    next,
  };
}

/** Those that stand first, in their order: found by what keeps them open, however much was said since. */
async function pressingOf(db: Db, viewer: Principal, now: number): Promise<Found[]> {
  const { workspace } = viewer;
  const questions = await openQuestionThreads(db, workspace, now, CONSIDERED);
  const undelivered = await undeliveredThreads(db, workspace, now - PRESSING_MS, now, CONSIDERED);
  const heads = await beginningsOf(db, workspace, [...new Set([...questions, ...undelivered])]);
  const asks = await openAsks(db, workspace, now, CONSIDERED);
  const all: Found[] = [...(await withFacts(db, viewer, heads)), ...asks.map((row) => ({ of: 'asks', row }) as const)];
  const ranked = all.map((found) => ({ found, rank: rankOf(courseOf(found), now), moment: momentOf(found.row.id) })).filter(({ rank }) => rank < 2);
  return ranked.sort((a, b) => a.rank - b.rank || (a.moment > b.moment ? -1 : 1)).map(({ found }) => found);
}

/** The newest first. */
async function pageOf(db: Db, viewer: Principal, now: number, { kind, state, before, limit }: Wanted, isWanted: (found: Found) => boolean) {
  const items: Found[] = [];
  let examined = 0;
  let last: Found | undefined;
  for await (const found of newestFirst(db, viewer, kind, before)) {
    if ((items.length === limit || examined === MOST_EXAMINED) && last) return { items, next: momentOf(last.row.id) };
    if (isWanted(found) && isIn(state, courseOf(found), now)) items.push(found);
    examined++;
    last = found;
  }
  return { items, next: null };
}
