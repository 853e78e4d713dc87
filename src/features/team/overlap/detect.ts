import type { Db } from '../../../storage/engine.ts';
import type { OverlapItemRow } from '../../../storage/schema-rows.ts';
import { isCompared, matchOf, mayEscalate, type Subject } from './candidates.ts';
import type { Match } from './contract.ts';
import type { Finder, SearchOptions } from './finder.ts';
import { settingsOf } from './own-settings.ts';
import type { Query, Scored } from './score.ts';
import { findItems } from './store.ts';
import { analyse, surfaces } from './terms.ts';

export interface Detection {
  /** Best first, every one at or above the warn floor. Owners are ids. */
  readonly matches: readonly Match[];
  readonly escalated: readonly Match[];
}

/** More than anybody judges; what lies beyond is weaker still. */
const MOST_MATCHES = 50;
/** The floor is low: the best of what only reaches it are told, the rest would be noise. */
const WEAK_MATCHES = 10;

const queryOf = (subject: Subject, vector: Float32Array | undefined): Query => ({ analysed: analyse(subject), files: subject.files, vector });

export interface Comparison {
  readonly finder: Finder;
  readonly vector: Float32Array | undefined;
  readonly now: number;
}

/** Everything that is like the subject, as far as `db` can see. */
export async function detect(db: Db, workspace: string, subject: Subject, comparison: Comparison): Promise<Detection> {
  const settings = await settingsOf(db, workspace);
  const query = queryOf(subject, comparison.vector);
  const search = async (options: Pick<SearchOptions, 'accept' | 'openOnly'>) =>
    await comparison.finder.search(db, workspace, query, { settings, limit: MOST_MATCHES, ...options });
  const first = await search({ accept: (id, item) => isCompared(subject, id, item, comparison.now) });
  // The limit has cut off what may need a verdict: what is finished, or declared to be something else, must not take its place.
  const isCut = first.length === MOST_MATCHES && first.every(({ score }) => score >= settings.escalate);
  const accept: SearchOptions['accept'] = (id, item) => isCompared(subject, id, item, comparison.now) && mayEscalate(subject, item);
  const scored = isCut ? merged(first, await search({ accept, openOnly: true })) : first;
  const strong = scored.filter(({ score }) => score >= settings.warn);
  const items = await findItems(
    db,
    workspace,
    strong.map(({ id }) => id),
  );
  const words = surfaces([subject.title, subject.scope, subject.description].filter(Boolean).join('\n'));
  const matches = strong
    .map((found): [OverlapItemRow | undefined, Scored] => [items.get(found.id), found])
    .flatMap(([item, found]) => (item ? [matchOf(subject, item, found, words, settings)] : []));
  const escalated = matches.filter(({ level }) => level === 'escalated');
  const weak = matches.filter(({ level }) => level === 'warn').slice(0, WEAK_MATCHES);
  return { matches: matches.filter((match) => escalated.includes(match) || weak.includes(match)), escalated };
}

/** Best first, each once. */
const merged = (one: readonly Scored[], other: readonly Scored[]): Scored[] =>
  [...new Map([...one, ...other].map((scored) => [scored.id, scored])).values()].sort((a, b) => b.score - a.score);
