import { type RawBuilder, sql } from 'kysely';
import { ownerOf } from '../../../kernel/actor.ts';
import type { Principal, Services } from '../../../kernel/context.ts';
import { isRecord } from '../../../kernel/input.ts';
import type { Ports } from '../../../kernel/ports.ts';
import type { Refused } from '../../../kernel/reply.ts';
import { chunks } from '../../../storage/chunks.ts';
import type { Db } from '../../../storage/engine.ts';
import type { JournalEvent } from '../../../storage/journal.ts';
import type { Database, DeveloperRow } from '../../../storage/schema-rows.ts';
import { ID, PRIVATE, type Veil, veiled, veiledEvent } from './private-fields.ts';
import { developersOf, instancesOf } from './store.ts';

/** Where the owner of a thing stands, by the beginning of its id: a developer's id, an actor or the subject of a grant. */
const OWNERS: Readonly<Record<string, readonly [keyof Database, RawBuilder<string | null>]>> = {
  dev: ['developers', sql.ref('id')],
  tok: ['tokens', sql.ref('developer_id')],
  ses: ['agent_sessions', sql.ref('developer_id')],
  ag: ['agents', sql.ref('developer_id')],
  dvc: ['device_grants', sql.ref('developer_id')],
  apr: ['approvals', sql.ref('developer_id')],
  wt: ['local_worktrees', sql.ref('developer_id')],
  rses: ['role_sessions', sql.ref('actor')],
  grant: ['grants', sql.ref('subject')],
  // The server names the worktrees that it makes.
  ws: ['worktrees', sql`case when made_by_server = 1 then null else actor end`],
};

/** Shared work: its id may be mentioned, so that the next holder of a step finds it. */
const MENTIONED = /^ws_/;

const BATCH_SIZE = 500;

/** Developers whom the viewer may not know. */
const hiddenAmong = (developers: readonly DeveloperRow[], viewer: Principal): Set<string> =>
  new Set(developers.filter(({ visibility, id }) => visibility === 'private' && id !== viewer.developerId).map(({ id }) => id));

/**
 * Events as `viewer` may see them, a page at a time. The journal has no names but those in the words of feedback; an id
 * followed over time is a person too. The operator gets the rows as they are: whoever checks the chain needs them, and can
 * read the database anyway.
 */
export async function redactor(db: Db, workspace: string, viewer: Principal): Promise<(page: readonly JournalEvent[]) => Promise<JournalEvent[]>> {
  const hidden = viewer.kind === 'operator' ? new Set<string>() : hiddenAmong(await developersOf(db, workspace), viewer);
  if (hidden.size === 0) return async (page) => [...page];
  return async (page) => {
    const veil = await veilOver(db, workspace, hidden, viewer, JSON.stringify(page));
    return page.map((event) => veiledEvent(event, veil, isBy(event, viewer)));
  };
}

/** The same for anything else that says who did it. */
export async function hiding(db: Db, workspace: string, viewer: Principal): Promise<<T>(value: T) => Promise<T>> {
  const hidden = viewer.kind === 'operator' ? new Set<string>() : hiddenAmong(await developersOf(db, workspace), viewer);
  if (hidden.size === 0) return async (value) => value;
  return async (value) => veiled(value, await veilOver(db, workspace, hidden, viewer, JSON.stringify(value)), false) as typeof value;
}

/**
 * What the pipe asks before it answers. No feature has to think of it: a value by which two things of a private developer
 * could be tied together is taken out of every answer that a member gets. People with operator rights administer what they
 * see, and need its ids.
 */
export function createRedactReply({ store }: Services): Ports['redact'] {
  return async (principal, reply, args) => {
    if (principal.operator) return reply;
    const next = reply.status === 'ok' ? '' : reply.next;
    const text = JSON.stringify([reply.data, reply.message, next]);
    if (!text.includes(PRIVATE) && !new RegExp(ID).test(text)) return reply;
    const { workspace } = principal;
    const hidden = hiddenAmong(await store.access.get(`developers ${workspace}`, () => developersOf(store.reader, workspace)), principal);
    if (hidden.size === 0) return reply;
    const veil = await veilOver(store.reader, workspace, hidden, principal, text);
    const data = veiled(reply.data, veil);
    if (reply.status === 'ok') return { ...reply, data, message: veil.withoutIds(reply.message) };
    const refused = refusedValue(reply, args);
    const worded = (words: string): string => veil.withoutIds(words, refused);
    return { ...reply, data: data as Record<string, unknown>, message: worded(reply.message), next: worded(reply.next) };
  };
}

/**
 * The value of the field that the refusal is about: its caller may read it again, and an id that turned into a word would
 * tell whose it is. Ids anywhere else in the arguments are guesses, which no answer may confirm.
 */
function refusedValue({ data }: Refused<unknown>, args: unknown): unknown {
  return isRecord(data) && isRecord(args) && typeof data.field === 'string' ? args[data.field] : undefined;
}

/** Knows of every id in the text whether it is a private developer's. */
async function veilOver(db: Db, workspace: string, hidden: ReadonlySet<string>, viewer: Principal, text: string): Promise<Veil> {
  const instances = new Set((await instancesOf(db, workspace, [...hidden])).map((id) => `instance:${id}`));
  const byKind = Map.groupBy(new Set(Array.from(text.matchAll(ID), ([id]) => id)), (id) => id.slice(0, id.indexOf('_')));
  const theirs = new Set(hidden);
  /** Null: nobody's but the operator's. */
  const owners = async (kind: string, ids: readonly string[]): Promise<Map<string, string | null>> => {
    const [table, owner] = OWNERS[kind] as (typeof OWNERS)[string];
    const found = new Map<string, string | null>();
    for (const some of chunks(ids, BATCH_SIZE)) {
      const rows = await db
        .selectFrom(table as 'agents')
        .select(['id', owner.as('owner')])
        .where('workspace_id', '=', workspace)
        .where('id', 'in', some)
        .execute();
      for (const row of rows) found.set(row.id, row.owner);
    }
    return found;
  };
  const isHidden = (owner: string | null): boolean =>
    owner !== null && (theirs.has(owner.replace(/^\w+:/, '')) || theirs.has(ownerOf(owner) ?? '') || instances.has(owner));
  const grants = await owners('grant', byKind.get('grant') ?? []);
  const tokens = [...(byKind.get('tok') ?? []), ...[...grants.values()].flatMap((subject) => subject?.match(ID) ?? []).filter((id) => id.startsWith('tok_'))];
  for (const [kind, ids] of [['tok', tokens] as const, ...byKind]) {
    if (!(kind in OWNERS) || kind === 'grant' || (kind === 'tok' && ids !== tokens)) continue;
    const found = await owners(kind, ids);
    // What is no longer there reads as if it were theirs: it may have been.
    for (const id of ids) if (!found.has(id) || isHidden(found.get(id) as string | null)) theirs.add(id);
  }
  for (const id of byKind.get('grant') ?? []) if (!grants.has(id) || isHidden(grants.get(id) as string | null)) theirs.add(id);
  return {
    viewer: viewer.developerName,
    isTheirs: (id) => theirs.has(id) || instances.has(`instance:${id}`),
    isPlace: (id) => MENTIONED.test(id) || instances.has(`instance:${id}`),
    withoutIds(words, known) {
      if (instances.has(words)) return PRIVATE;
      if (!words.includes('_')) return words;
      return words.replace(MENTION, (found, id: string) => (theirs.has(id) && id !== known && !MENTIONED.test(id) ? PRIVATE : found));
    },
  };
}

/** An id, with the kind of actor and the agent before it. So much may stand there and no more: a long word would be looked through from each of its letters. */
const MENTION = /(?:\b[a-z]{1,20}:)?(?:\b[a-z0-9-]{1,40}@)?\b([a-z]+_[0-9A-HJKMNP-TV-Z]{26})\b/g;

const isBy = ({ actor }: JournalEvent, { developerId }: Principal): boolean => developerId !== null && actor.endsWith(developerId);
