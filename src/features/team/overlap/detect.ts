import type { Db } from '../../../storage/engine.ts';
import type { OverlapItemRow } from '../../../storage/schema-rows.ts';
import type { CheckKind, ItemKind, ItemStatus, OverlapMatch } from './contract.ts';
import { componentsDiffer, opposed } from './divergence.ts';
import type { Finder, FinderOptions } from './finder.ts';
import { reasonFor } from './reason.ts';
import type { Query, Scored } from './score.ts';
import type { OverlapSettings } from './settings.ts';
import { findItems, readState, settingsOf, type WorkWords } from './store.ts';
import { analyse, surfaces } from './terms.ts';

/** The work that is being checked. */
export interface CheckedWork extends WorkWords {
  readonly kind: CheckKind;
  readonly developerId: string;
  /** Id of the planned work that is being checked. It is excluded, so that the work is not reported as its own duplicate. */
  readonly plannedId: string | null;
}

export interface Detection {
  /** Best match first. Every match scores at least `warn`. The `owner` field contains the id of the developer. */
  readonly matches: readonly OverlapMatch[];
  readonly escalated: readonly OverlapMatch[];
}

/** More matches are not reported: nobody would judge them all, and the rest score lower anyway. */
const MAX_MATCHES = 50;
/** Matches that are not escalated are limited to this number, because the `warn` threshold is low and a longer list would be noise. */
const WEAK_MATCHES = 10;

interface OverlapComparison {
  readonly finder: Finder;
  readonly vector: Float32Array | undefined;
  readonly now: number;
}

/** Finds all work that is similar to the subject and that `db` can see. */
export async function detect(db: Db, workspace: string, subject: CheckedWork, comparison: OverlapComparison): Promise<Detection> {
  const state = await readState(db, workspace);
  if (!state) return { matches: [], escalated: [] };
  const settings = settingsOf(state);
  const query: Query = { analysed: analyse(subject), files: subject.files, vector: comparison.vector };
  const search = async (options: Pick<FinderOptions, 'accept' | 'openOnly'>) =>
    await comparison.finder.search(db, state, query, { settings, limit: MAX_MATCHES, atLeast: settings.warn, ...options });
  const first = await search({ accept: (id, item) => isCompared(subject, id, item, comparison.now) });
  // If every match reaches the `escalate` threshold, the limit may have cut off work that needs a verdict. The second search therefore skips
  // finished work and work that is declared to be different.
  const isCut = first.length === MAX_MATCHES && first.every(({ score }) => score >= settings.escalate);
  const accept: FinderOptions['accept'] = (id, item) => isCompared(subject, id, item, comparison.now) && mayEscalate(subject, item);
  const scored = isCut ? merged(first, await search({ accept, openOnly: true })) : first;
  const ids = scored.map(({ id }) => id);
  const items = await findItems(db, workspace, ids);
  const words = surfaces([subject.title, subject.scope, subject.description].filter(Boolean).join('\n'));
  const matches = scored.flatMap((found) => {
    const item = items.get(found.id);
    return item ? [matchOf(subject, item, found, words, settings)] : [];
  });
  const escalated = matches.filter(({ level }) => level === 'escalated');
  const weak = matches.filter(({ level }) => level === 'warn').slice(0, WEAK_MATCHES);
  return { matches: matches.filter((match) => escalated.includes(match) || weak.includes(match)), escalated };
}

/** Merges two lists without duplicates, best match first. */
const merged = (one: readonly Scored[], other: readonly Scored[]): Scored[] =>
  [...new Map([...one, ...other].map((scored) => [scored.id, scored])).values()].sort((a, b) => b.score - a.score);

const OPEN: ReadonlySet<ItemStatus> = new Set(['planned', 'active', 'blocked']);
export const isOpen = (status: ItemStatus): boolean => OPEN.has(status);

/** Finished work takes part in comparisons for this long. */
export const RECENT_MS = 14 * 24 * 3_600_000;

/**
 * Whether the subject is compared with an item. A developer's tasks are not compared with that developer's own workstreams, because a
 * workstream contains tasks and does not duplicate them.
 */
export function isCompared(subject: CheckedWork, id: string, item: { kind: ItemKind; owner_id: string; closed_at: number | null }, now: number): boolean {
  if (id === subject.plannedId) return false;
  if (item.closed_at !== null && item.closed_at < now - RECENT_MS) return false;
  const sameLevel = (item.kind === 'workstream') === (subject.kind === 'workstream');
  return sameLevel || item.owner_id !== subject.developerId;
}

/** Only matches with open work are escalated. Other matches are stored too, as weak ones. */
const isEscalated = (subject: CheckedWork, item: OverlapItemRow, scored: Scored, settings: OverlapSettings): boolean =>
  isOpen(item.status) && isEscalatedPair(subject, item, scored, settings);

/** All conditions for an escalation except that the work is open. Audits use this function, because they also report finished work. */
export const isEscalatedPair = (subject: CheckedWork, item: OverlapItemRow, scored: Scored, settings: OverlapSettings): boolean =>
  scored.score >= settings.escalate && scored.textualEvidence && !diverges(subject, item) && !scored.lowInformation;

type Declared = Pick<OverlapItemRow, 'action' | 'component'>;

const diverges = (subject: Declared, item: Declared): boolean => opposed(subject.action, item.action) || componentsDiffer(subject.component, item.component);

/** Whether an item can be escalated at all. The answer uses only what is known before the item is scored. */
const mayEscalate = (subject: CheckedWork, item: Declared & { closed_at: number | null }): boolean => item.closed_at === null && !diverges(subject, item);

/** Builds a match for storage. It contains the id of the owner, which `shownTo` replaces with the name that a viewer may see. */
function matchOf(subject: CheckedWork, item: OverlapItemRow, scored: Scored, surfaces: ReadonlyMap<string, string>, settings: OverlapSettings): OverlapMatch {
  return {
    id: item.id,
    type: item.kind,
    title: item.title,
    scope: item.scope,
    owner: item.owner_id,
    same_developer: item.owner_id === subject.developerId,
    status: item.status,
    repo: item.repo,
    task_type: item.task_type,
    score: Math.round(scored.score * 100) / 100,
    reason: reasonFor(scored, surfaces),
    level: isEscalated(subject, item, scored, settings) ? 'escalated' : 'warn',
    file_overlap: [...scored.sharedFiles],
    action_divergent: opposed(subject.action, item.action),
    ...(componentsDiffer(subject.component, item.component) ? { component_differs: true } : {}),
  };
}

export const shownTo =
  (name: (developerId: string) => string) =>
  (match: OverlapMatch): OverlapMatch => ({ ...match, owner: name(match.owner) });
