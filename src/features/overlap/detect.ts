import type { Db } from '../../storage/engine.ts';
import { isCompared, matchOf, type Subject } from './candidates.ts';
import type { Match } from './contract.ts';
import type { Finder } from './finder.ts';
import { settingsOf } from './own-settings.ts';
import type { Query, Scored } from './score.ts';
import { findItems } from './store.ts';
import type { OverlapItemRow } from './tables.ts';
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
  const scored = await comparison.finder.search(db, workspace, queryOf(subject, comparison.vector), {
    settings,
    limit: MOST_MATCHES,
    accept: (id, item) => isCompared(subject, id, item, comparison.now),
  });
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
