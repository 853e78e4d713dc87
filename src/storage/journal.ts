import { hash as digest } from 'node:crypto';
import { canonicalJson } from './canonical.ts';
import { compiledQuery } from './compiled.ts';
import type { Db, Engine } from './engine.ts';
import { withoutTokens } from './secrets.ts';
import type { EventCategory, EventRow, JournalHeadRow } from './tables.ts';

/** The hash before the first event. */
export const GENESIS = '0'.repeat(64);
export const MAX_PAYLOAD_BYTES = 8 * 1024;

export interface NewEvent {
  category: EventCategory;
  kind: string;
  actor: string;
  subject?: string | null;
  session?: string | null;
  payload?: Record<string, unknown>;
}

/** A row as readers get it. */
export interface JournalEvent extends Omit<EventRow, 'workspace_id' | 'payload'> {
  payload: Record<string, unknown>;
}

type Hashed = Pick<EventRow, 'seq' | 'category' | 'kind' | 'actor' | 'subject' | 'session' | 'payload' | 'time'>;

/** SHA-256 of the previous hash (hex) followed by the event, without its hash, as canonical JSON. */
export function chainHash(previous: string, event: Hashed): string {
  const canonical =
    `{"actor":${canonicalJson(event.actor)},"category":"${event.category}","kind":${canonicalJson(event.kind)},` +
    `"payload":${event.payload},"seq":${event.seq},"session":${canonicalJson(event.session)},` +
    `"subject":${canonicalJson(event.subject)},"time":${event.time}}`;
  return digest('sha256', previous + canonical);
}

/** The events of one transaction: numbered as they are appended, chained and inserted together before the commit. */
export class JournalBatch {
  readonly #workspace: string;
  readonly #start: JournalHeadRow | undefined;
  readonly #now: () => number;
  readonly #pending: Omit<EventRow, 'hash'>[] = [];

  constructor(workspace: string, start: JournalHeadRow | undefined, now: () => number) {
    this.#workspace = workspace;
    this.#start = start;
    this.#now = now;
  }

  /** The event's number. It holds if the transaction commits, because writers of a workspace take turns. */
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
      time: this.#now(),
    });
    return seq;
  }

  get length(): number {
    return this.#pending.length;
  }

  /** Forgets what a failed callback appended. */
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

export async function readEvents(db: Db, workspace: string, after: number, limit: number): Promise<JournalEvent[]> {
  const rows = await db.selectFrom('events').selectAll().where('workspace_id', '=', workspace).where('seq', '>', after).orderBy('seq').limit(limit).execute();
  return rows.map(toEvent);
}

/**
 * Events on these subjects, by way of an index that has all it is asked for: where SQLite has to fetch the rest of a row besides,
 * it reads the whole journal of the workspace instead.
 */
export const eventsAbout = (db: Db, workspace: string, subjects: readonly string[]) =>
  db
    .selectFrom('events')
    .where('events.workspace_id', '=', workspace)
    .where('events.seq', 'in', ({ selectFrom }) =>
      selectFrom('events as named').select('named.seq').where('named.workspace_id', '=', workspace).where('named.subject', 'in', subjects),
    );

/**
 * The first event at or after `since`, found by halving: times rise with `seq`, and an index on them would cost every
 * append more than this costs the few who ask.
 */
export async function firstSeqSince(db: Db, workspace: string, since: number): Promise<number> {
  let low = 1;
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

/** Text that is not the canonical form of anything was not written by us; it reads as that, and no hash fits it. */
function readPayload(text: string): Record<string, unknown> {
  try {
    const payload = JSON.parse(text) as Record<string, unknown>;
    if (canonicalJson(payload) === text) return payload;
  } catch {
    // Not even JSON.
  }
  return { unreadable: true };
}

/** A caller's words may be in it (the name of a tool that does not exist): nothing in them may make the insert fail. */
const storable = (text: string): string => withoutTokens(text.toWellFormed().replaceAll('\0', '\uFFFD'));

/** A key may be redacted too, and then stand in another place. */
function canonicalWithoutTokens(payload: Record<string, unknown>): string {
  const text = canonicalJson(payload);
  const safe = withoutTokens(text);
  return safe === text ? text : canonicalJson(JSON.parse(safe));
}

/** A payload over the bound is replaced by its size and digest: the journal says that something is missing, and what. */
function boundedPayload(payload: Record<string, unknown>): string {
  const text = canonicalWithoutTokens(payload);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_PAYLOAD_BYTES) return text;
  return canonicalJson({ truncated: true, bytes, sha256: digest('sha256', text) });
}

export interface ChainBreak {
  seq: number;
  kind: string | null;
  reason: string;
}

/** Checks a chain page by page, in order, from its beginning or from what was verified before. The first break ends it. */
export class ChainVerifier {
  #previous: string;
  #next: number;
  #first: ChainBreak | undefined;

  constructor(verified = { seq: 0, hash: GENESIS }) {
    this.#previous = verified.hash;
    this.#next = verified.seq + 1;
  }

  /** The last event that fits, and the first that does not. */
  get reached(): { seq: number; hash: string; firstBreak: ChainBreak | null } {
    return { seq: this.#next - 1, hash: this.#previous, firstBreak: this.#first ?? null };
  }

  add(event: JournalEvent): void {
    if (this.#first) return;
    if (event.seq !== this.#next) {
      const reason = event.seq > this.#next ? `event ${this.#next} is missing` : `event ${event.seq} is out of order`;
      this.#first = { seq: this.#next, kind: null, reason };
      return;
    }
    const expected = chainHash(this.#previous, { ...event, payload: canonicalJson(event.payload) });
    if (event.hash !== expected) {
      this.#first = { seq: event.seq, kind: event.kind, reason: 'its content does not fit its hash' };
      return;
    }
    this.#previous = expected;
    this.#next++;
  }

  /** The head row says how long the chain must be: a tail that was cut off leaves no gap behind. */
  finish(head: { seq: number; hash: string } | undefined): { valid: boolean; events: number; root: string; firstBreak: ChainBreak | null } {
    const events = this.#next - 1;
    if (!this.#first && (head?.seq ?? 0) !== events) {
      this.#first = { seq: this.#next, kind: null, reason: `the journal's head is at ${head?.seq ?? 0}` };
    }
    if (!this.#first && head && head.hash !== this.#previous) {
      this.#first = { seq: events, kind: null, reason: "the journal's head has another root" };
    }
    return { valid: !this.#first, events, root: this.#previous, firstBreak: this.#first ?? null };
  }
}
