import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { wordsPattern } from '../../../kernel/like.ts';
import type { Db } from '../../../storage/engine.ts';
import { type JournalEvent, toEvent } from '../../../storage/journal.ts';
import { matching } from '../../../storage/rows.ts';
import { PRIVATE } from '../identity/index.ts';
import type { EventFilter } from './contract.ts';

/** Whose events to search: those of one actor, or those of a developer and all of their agents. */
export type Whose = { readonly actor: string } | { readonly developer: string };

/** An event filter in which the name of the actor is replaced by ids. */
interface EventSearch extends Omit<EventFilter, 'actor'> {
  readonly whose?: Whose | undefined;
}

/** The number of rows per query. Rows that the viewer may not see are removed afterwards. */
const BATCH = 200;

export interface JournalStretch {
  /** The event at which the search starts. It continues in the given direction. */
  readonly start: number;
  readonly direction: 'on' | 'back';
  readonly limit: number;
  /** The numbers of the first and the last event that exist. */
  readonly begin: number;
  readonly end: number;
  /** The maximum number of events to search. It does not apply to a search for one subject or one actor, because that uses an index. */
  readonly reach: number;
}

interface FoundEvents {
  /** The events in journal order. */
  readonly items: JournalEvent[];
  readonly looked: { readonly from: number; readonly to: number };
}

/**
 * Returns the next `limit` matching events, redacted for the viewer. The returned range reveals nothing that the viewer may not
 * see, because it is either the whole range or ends at the last returned event.
 */
export async function searchEvents(
  db: Db,
  workspace: string,
  { start, direction, limit, begin, end, reach: maxReach }: JournalStretch,
  sought: EventSearch,
  redact: (page: readonly JournalEvent[]) => Promise<JournalEvent[]>,
): Promise<FoundEvents> {
  const back = direction === 'back';
  const reach = indexedColumn(sought) ? end : maxReach;
  const low = Math.max(begin, back ? start - reach + 1 : start);
  const high = back ? start : Math.min(end, low + reach - 1);
  const size = isNarrow(sought) ? Math.max(BATCH, limit) : limit;
  const items: JournalEvent[] = [];
  let [from, to] = [low, high];
  for (let more = from <= to; more; ) {
    const rows = await readBatch(db, workspace, { from, to, back, size }, sought);
    items.push(...(await redact(rows)).filter((event) => matchesSearch(event, sought)));
    const last = rows.at(-1)?.seq ?? 0;
    if (back) to = last - 1;
    else from = last + 1;
    more = rows.length === size && items.length < limit;
  }
  const listed = items.slice(0, limit);
  const last = listed.at(-1)?.seq ?? 0;
  const full = items.length >= limit;
  if (back) return { items: listed.reverse(), looked: { from: full ? last : low, to: high } };
  return { items: listed, looked: { from: low, to: full ? last : high } };
}

/** Returns the outcome of a call, or `passed` or `denied` for a capability check. Undefined for other events. */
function outcomeOf({ outcome, passed }: Record<string, unknown>): string | undefined {
  if (typeof passed === 'boolean') return passed ? 'passed' : 'denied';
  return typeof outcome === 'string' ? outcome : undefined;
}

/** Whether an event matches the search. The event must already be redacted, so that a search cannot find hidden values. */
function matchesSearch(event: JournalEvent, { category, kind, whose, subject, outcome, session, text }: EventSearch): boolean {
  return (
    (category === undefined || event.category === category) &&
    (kind === undefined || event.kind.toLowerCase().startsWith(kind.toLowerCase())) &&
    (whose === undefined || isWhose(event.actor, whose)) &&
    (subject === undefined || event.subject === subject) &&
    (outcome === undefined || outcomeOf(event.payload) === outcome) &&
    (session === undefined || event.session === session) &&
    (text === undefined || containsText(event, text))
  );
}

const isWhose = (actor: string, whose: Whose): boolean =>
  'actor' in whose ? actor === whose.actor : actor === `developer:${whose.developer}` || (actor.startsWith('agent:') && actor.endsWith(`@${whose.developer}`));

const containsText = ({ kind, subject, session, payload }: JournalEvent, text: string): boolean =>
  [kind, subject ?? '', session ?? ''].some((each) => each.toLowerCase().includes(text.toLowerCase())) ||
  JSON.stringify(payload).toLowerCase().includes(asInJson(text).toLowerCase());

/** Returns the text as it appears between the quotes of a JSON string. */
const asInJson = (text: string): string => JSON.stringify(text).slice(1, -1);

const isNarrow = (sought: EventSearch): boolean => Object.values(sought).some((each) => each !== undefined);

/** Returns the column whose index can find all matches. This is possible if the search has one subject or one actor and no other condition. */
function indexedColumn({ whose, subject, ...others }: EventSearch): { column: 'subject' | 'actor'; value: string } | undefined {
  if (isNarrow(others)) return undefined;
  if (subject !== undefined) return whose === undefined ? { column: 'subject', value: subject } : undefined;
  const actor = oneActor(whose);
  return actor === undefined ? undefined : { column: 'actor', value: actor };
}

/** Returns the actor that the index can find. `@private` is excluded, because the rows contain ids. */
const oneActor = (whose: EventSearch['whose']): string | undefined =>
  whose !== undefined && 'actor' in whose && whose.actor !== PRIVATE ? whose.actor : undefined;

interface BatchBounds {
  readonly from: number;
  readonly to: number;
  readonly back: boolean;
  readonly size: number;
}

async function readBatch(db: Db, workspace: string, { from, to, back, size }: BatchBounds, sought: EventSearch): Promise<JournalEvent[]> {
  const order = back ? 'desc' : 'asc';
  const stretch = matching(db, 'events', { workspace_id: workspace, seq: { '>=': from, '<=': to } })
    .orderBy('seq', order)
    .limit(size);
  const by = indexedColumn(sought);
  // Reads only the sequence numbers first. If SQLite had to fetch whole rows at the same time, it would scan the whole range.
  const numbers = by && (await stretch.select('seq').where(by.column, '=', by.value).execute()).map(({ seq }) => seq);
  if (numbers?.length === 0) return [];
  let query = numbers ? matching(db, 'events', { workspace_id: workspace, seq: numbers }).orderBy('seq', order) : stretch;
  for (const condition of conditions(sought)) query = query.where(condition);
  return (await query.selectAll().execute()).map(toEvent);
}

const like = (expression: RawBuilder<string>, pattern: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`lower(${expression}) like ${pattern.toLowerCase()} escape '\\'`;

/** Returns the conditions of the search that the database can check. `matchesSearch` then makes the final decision. */
function conditions({ category, kind, whose, subject, outcome, session, text }: EventSearch): RawBuilder<SqlBool>[] {
  const all: RawBuilder<SqlBool>[] = [];
  const actor = oneActor(whose);
  if (category !== undefined) all.push(sql`category = ${category}`);
  if (kind !== undefined) all.push(like(sql`kind`, wordsPattern(kind).slice(1)));
  if (actor !== undefined) all.push(sql`actor = ${actor}`);
  if (whose !== undefined && 'developer' in whose) all.push(sql`actor like ${`%${whose.developer}`}`);
  if (subject !== undefined) all.push(sql`subject = ${subject}`);
  if (session !== undefined) all.push(sql`session = ${session}`);
  if (outcome !== undefined) all.push(outcomeIs(outcome));
  if (text !== undefined) all.push(sql`(${sql.join(anywhere(text), sql` or `)})`);
  return all;
}

/** Searches the payload as text. This is possible because payloads are canonical JSON, in which each value has exactly one spelling. */
function outcomeIs(outcome: string): RawBuilder<SqlBool> {
  const written = like(sql`payload`, wordsPattern(`"outcome":"${asInJson(outcome)}"`));
  if (outcome !== 'passed' && outcome !== 'denied') return written;
  return sql`(${written} or ${like(sql`payload`, wordsPattern(`"passed":${outcome === 'passed'}`))})`;
}

const anywhere = (text: string): RawBuilder<SqlBool>[] => [
  like(sql`kind`, wordsPattern(text)),
  like(sql`coalesce(subject, '')`, wordsPattern(text)),
  like(sql`coalesce(session, '')`, wordsPattern(text)),
  like(sql`payload`, wordsPattern(asInJson(text))),
];
