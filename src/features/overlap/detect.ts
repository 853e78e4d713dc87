import { readJson } from '../../storage/columns.ts';
import type { Db } from '../../storage/engine.ts';
import { isCompared, matchOf, type Subject } from './candidates.ts';
import { type Match, overlapSettings } from './contract.ts';
import type { Finder } from './finder.ts';
import type { Query, Scored } from './score.ts';
import { DEFAULT_SETTINGS, type OverlapSettings } from './settings.ts';
import { findItems, readState } from './store.ts';
import type { OverlapItemRow } from './tables.ts';
import { analyse, surfaces } from './terms.ts';

export interface Detection {
  /** Best first, every one at or above the warn floor. Owners are ids. */
  readonly matches: readonly Match[];
  readonly escalated: readonly Match[];
}

/** More than anybody judges; what lies beyond is weaker still. */
const MOST_MATCHES = 50;

export async function settingsOf(db: Db, workspace: string): Promise<OverlapSettings> {
  const own = (await readState(db, workspace))?.settings;
  return own ? { ...DEFAULT_SETTINGS, ...readJson(overlapSettings, own) } : DEFAULT_SETTINGS;
}

export const queryOf = (subject: Subject, vector: Float32Array | undefined): Query => ({ analysed: analyse(subject), files: subject.files, vector });

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
  return { matches, escalated: matches.filter(({ level }) => level === 'escalated') };
}
