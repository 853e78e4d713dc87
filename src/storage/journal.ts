import { hash as digest } from 'node:crypto';
import type { Db, Engine } from './engine.ts';
import { compiledQuery } from './rows.ts';
import type { EventRow, JournalHeadRow } from './schema-rows.ts';

export type EventCategory = 'usage' | 'work' | 'feedback' | 'audit';
export const EVENT_CATEGORIES = ['usage', 'work', 'feedback', 'audit'] as const satisfies readonly EventCategory[];

/** The previous hash of the first event in a journal. */
export const GENESIS = '0'.repeat(64);
export const MAX_PAYLOAD_BYTES = 8 * 1024;

/** A position in the hash chain: the number and hash of an event. */
export interface ChainPoint {
  readonly seq: number;
  readonly hash: string;
}

/** The beginning of a journal that was never pruned. */
export const BEGINNING: ChainPoint = { seq: 0, hash: GENESIS };

export interface NewEvent {
  category: EventCategory;
  kind: string;
  actor: string;
  subject?: string | null;
  session?: string | null;
  payload?: Record<string, unknown>;
}

/** An event whose payload is already parsed. */
export interface JournalEvent extends Omit<EventRow, 'workspace_id' | 'payload'> {
  payload: Record<string, unknown>;
}

type Hashed = Pick<EventRow, 'seq' | 'category' | 'kind' | 'actor' | 'subject' | 'session' | 'payload' | 'time'>;

/** Returns the SHA-256 of a text: the previous hash in hexadecimal, followed by the event (without its `hash`) as canonical JSON. */
export function chainHash(previous: string, event: Hashed): string {
  const canonical =
    `{"actor":${canonicalJson(event.actor)},"category":"${event.category}","kind":${canonicalJson(event.kind)},` +
    `"payload":${event.payload},"seq":${event.seq},"session":${canonicalJson(event.session)},` +
    `"subject":${canonicalJson(event.subject)},"time":${event.time}}`;
  return digest('sha256', previous + canonical);
}

/** Collects the events of one transaction. Each event gets its number immediately. All events are hashed and inserted together before the commit. */
export class JournalBatch {
  readonly #workspace: string;
  readonly #start: JournalEnd | undefined;
  readonly #now: () => number;
  readonly #pending: Omit<EventRow, 'hash'>[] = [];

  constructor(workspace: string, start: JournalEnd | undefined, now: () => number) {
    this.#workspace = workspace;
    this.#start = start;
    this.#now = now;
  }

  /** Returns the number of the event. The number stays the same when the transaction commits, because only one transaction at a time writes to a workspace. */
  append(event: NewEvent): number {
    const seq = (this.#start?.seq ?? 0) + this.#pending.length + 1;
    this.#pending.push({
      workspace_id: this.#workspace,
      seq,
      category: event.category,
      kind: storable(event.kind),
      actor: storable(event.actor),
      subject: event.subject == null ? null : storable(event.subject),
      session: event.session == null ? null : storable(event.session),
      payload: boundedPayload(event.payload ?? {}),
      // Times must never decrease from one event to the next, because lookups by time use a binary search. The clock may have been set back, or another
      // server's clock may be slow.
      time: Math.max(this.#now(), this.#pending.at(-1)?.time ?? this.#start?.time ?? 0),
    });
    return seq;
  }

  get length(): number {
    return this.#pending.length;
  }

  /** Removes the events that a failed callback appended. */
  truncate(length: number): void {
    this.#pending.length = length;
  }

  async insert(engine: Engine, db: Db): Promise<void> {
    if (this.#pending.length === 0) return;
    let hash = this.#start?.hash ?? GENESIS;
    const rows = this.#pending.map((event): EventRow => {
      hash = chainHash(hash, event);
      return { ...event, hash };
    });
    const seq = (this.#start?.seq ?? 0) + rows.length;
    await engine.appendEvents(db, rows, { workspace_id: this.#workspace, seq, hash });
  }
}

const selectHead = compiledQuery(1, (db, workspace: string) => db.selectFrom('journal_heads').selectAll().where('workspace_id', '=', workspace));

export async function readHead(db: Db, workspace: string): Promise<JournalHeadRow | undefined> {
  return (await selectHead(db, workspace))[0];
}

/** The end of the journal, to which the next event is appended. `time` is the time of the last event, or null if that event does not exist anymore. */
export type JournalEnd = JournalHeadRow & { time: number | null };

const selectEnd = compiledQuery(1, (db, workspace: string) =>
  db
    .selectFrom('journal_heads as head')
    .leftJoin('events', (join) => join.onRef('events.workspace_id', '=', 'head.workspace_id').onRef('events.seq', '=', 'head.seq'))
    .select(['head.workspace_id', 'head.seq', 'head.hash', 'events.time'])
    .where('head.workspace_id', '=', workspace),
);

export async function readEnd(db: Db, workspace: string): Promise<JournalEnd | undefined> {
  return (await selectEnd(db, workspace))[0];
}

/** Returns the point that the oldest remaining event is chained to: the last pruned event, or the beginning of the journal. */
export async function readAnchor(db: Db, workspace: string): Promise<ChainPoint> {
  const row = await db.selectFrom('journal_anchors').select(['seq', 'hash']).where('workspace_id', '=', workspace).executeTakeFirst();
  return row ?? BEGINNING;
}

export async function readEvents(db: Db, workspace: string, after: number, limit: number): Promise<JournalEvent[]> {
  const rows = await db.selectFrom('events').selectAll().where('workspace_id', '=', workspace).where('seq', '>', after).orderBy('seq').limit(limit).execute();
  return rows.map(toEvent);
}

/**
 * Selects the events with one of these subjects. The inner query reads only columns of an index. If it needed other columns too, SQLite would scan the whole
 * journal of the workspace.
 */
export const eventsAbout = (db: Db, workspace: string, subjects: readonly string[]) =>
  db
    .selectFrom('events')
    .where('events.workspace_id', '=', workspace)
    .where('events.seq', 'in', ({ selectFrom }) =>
      selectFrom('events as named').select('named.seq').where('named.workspace_id', '=', workspace).where('named.subject', 'in', subjects),
    );

/** Selects the events of an actor, with the same kind of inner query as `eventsAbout`. */
export const eventsBy = (db: Db, workspace: string, actor: string) =>
  db
    .selectFrom('events')
    .where('events.workspace_id', '=', workspace)
    .where('events.seq', 'in', ({ selectFrom }) =>
      selectFrom('events as own').select('own.seq').where('own.workspace_id', '=', workspace).where('own.actor', '=', actor),
    );

/**
 * Returns the number of the first event at or after `since`. A binary search works because times never decrease from one event to the next. There is no index
 * on times, because it would slow down every append and few callers need it.
 */
export async function firstSeqSince(db: Db, workspace: string, since: number): Promise<number> {
  let low = (await readAnchor(db, workspace)).seq + 1;
  let high = ((await readHead(db, workspace))?.seq ?? 0) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await db
      .selectFrom('events')
      .select('time')
      .where('workspace_id', '=', workspace)
      .where('seq', '>=', middle)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst();
    if (!row || row.time >= since) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function toEvent({ workspace_id: _, payload, ...row }: EventRow): JournalEvent {
  return { ...row, payload: readPayload(payload) };
}

/** If the text is not canonical JSON, the server did not write it. The payload is then `{ unreadable: true }`, so that the event's hash does not match. */
function readPayload(text: string): Record<string, unknown> {
  try {
    const payload = JSON.parse(text) as Record<string, unknown>;
    if (canonicalJson(payload) === text) return payload;
  } catch {
    // The text is not JSON at all.
  }
  return { unreadable: true };
}

/**
 * Removes characters that a database cannot store, and tokens. The text may come from a caller (such as the name of an unknown tool) and must not make the
 * insert fail.
 */
const storable = (text: string): string => withoutTokens(text.toWellFormed().replaceAll('\0', '\uFFFD'));

/** If a token in a key was replaced, the keys may no longer be sorted, so the result is made canonical again. */
function canonicalWithoutTokens(payload: Record<string, unknown>): string {
  const text = canonicalJson(payload);
  const safe = withoutTokens(text);
  return safe === text ? text : canonicalJson(JSON.parse(safe));
}

/** If a payload exceeds the limit, its size and digest are stored instead, so that the journal shows that a payload was left out. */
function boundedPayload(payload: Record<string, unknown>): string {
  const text = canonicalWithoutTokens(payload);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_PAYLOAD_BYTES) return text;
  return canonicalJson({ truncated: true, bytes, sha256: digest('sha256', text) });
}

/**
 * RFC 8785 canonical JSON: keys sorted by UTF-16 code unit, ECMAScript number and string forms, no white space. Implemented here because it runs for
 * every event of every call. A property test compares it with the `canonicalize` package.
 */
export function canonicalJson(value: unknown): string {
  // If all keys are already in order, `JSON.stringify` returns canonical JSON, and it is several times faster.
  if (isOrdered(value)) {
    const text = JSON.stringify(value);
    if (!text.includes('\\ud')) return text;
  }
  return writeCanonical(value);
}

/** Whether the keys of all objects are in canonical order and all values are valid in JSON. */
function isOrdered(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' || typeof value === 'boolean' || value === null || Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isOrdered);
  let last = '';
  for (const key in value) {
    const inner = (value as Record<string, unknown>)[key];
    if (key < last || (inner !== undefined && !isOrdered(inner))) return false;
    last = key;
  }
  return true;
}

function writeCanonical(value: unknown): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('canonical JSON has no NaN or Infinity');
      return JSON.stringify(value);
    case 'object':
      return Array.isArray(value) ? arrayJson(value) : objectJson(value as Record<string, unknown>);
    default:
      throw new TypeError(`canonical JSON has no ${typeof value}`);
  }
}

function arrayJson(values: readonly unknown[]): string {
  return `[${values.map((value) => (value === undefined ? 'null' : writeCanonical(value))).join(',')}]`;
}

function objectJson(object: Record<string, unknown>): string {
  const keys = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort();
  return `{${keys.map((key) => `${quote(key)}:${writeCanonical(object[key])}`).join(',')}}`;
}

/** A lone surrogate has no canonical form, so it becomes U+FFFD, as it would in a UTF-8 database. */
function quote(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

/** Matches tokens of callers, role sessions and locks. A lock token is 48 hexadecimal digits, and no hash has that length. */
const TOKENS = /(cv_)[A-Za-z0-9_-]{20,128}|(sess_)[0-9a-f]{20,128}|(?<![0-9a-f])[0-9a-f]{48}(?![0-9a-f])/g;

/**
 * Removes tokens from text before it reaches the journal or the log. No code writes a token there on purpose, but a caller may put one into a path, tool name
 * or label, and a database driver may put one into an error message.
 */
export function withoutTokens(text: string): string {
  return text.replace(TOKENS, (_, caller = '', session = '') => `${caller}${session}[redacted]`);
}

/** Matches only complete tokens, not other text that begins like a token, such as a variable name. */
const EXACT = /cv_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])|sess_[0-9a-f]{48}(?![0-9a-f])|(?<![0-9a-f])[0-9a-f]{48}(?![0-9a-f])/;

export const hasToken = (text: string): boolean => EXACT.test(text);
