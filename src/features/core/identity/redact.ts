import { type RawBuilder, sql } from 'kysely';
import { ownerOf } from '../../../kernel/actor.ts';
import type { Principal, Services } from '../../../kernel/call.ts';
import type { Ports } from '../../../kernel/ports.ts';
import { isRecord } from '../../../kernel/registry.ts';
import type { Refused } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import type { JournalEvent } from '../../../storage/journal.ts';
import { chunks } from '../../../storage/rows.ts';
import type { Database, DeveloperRow } from '../../../storage/schema-rows.ts';
import { developersOf, instancesOf } from './store.ts';

/** The text that other people see instead of the name of a private developer. */
export const PRIVATE = '@private';

/** The runtime that other people see for an agent of a private developer. */
export const PRIVATE_RUNTIME = 'custom';

/**
 * Redacts every answer to a member, so that features do not have to do this themselves. It removes values that could link two
 * objects of a private developer. People with operator rights get all ids, because they need them to administer the objects.
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
    const veil = await createVeil(store.reader, workspace, hidden, principal, text);
    const data = redactValue(reply.data, veil);
    if (reply.status === 'ok') return { ...reply, data, message: veil.withoutIds(reply.message) };
    const refused = refusedValue(reply, args);
    const worded = (words: string): string => veil.withoutIds(words, refused);
    return { ...reply, data: data as Record<string, unknown>, message: worded(reply.message), next: worded(reply.next) };
  };
}

/**
 * Returns the value of the input field that a refusal is about. An id from this field stays in the answer, because a placeholder
 * would reveal that its owner is private. Ids from other fields may be guesses, and no answer may confirm a guess.
 */
function refusedValue({ data }: Refused<unknown>, args: unknown): unknown {
  return isRecord(data) && isRecord(args) && typeof data.field === 'string' ? args[data.field] : undefined;
}

/**
 * Returns a function that redacts pages of events for `viewer`. The journal contains names only in feedback texts, but an id that
 * occurs in many events can identify a person, too. The operator gets the events unchanged, because they are needed to check the
 * hash chain and because the operator can read the database anyway.
 */
export async function eventRedactor(db: Db, workspace: string, viewer: Principal): Promise<(page: readonly JournalEvent[]) => Promise<JournalEvent[]>> {
  const hidden = viewer.kind === 'operator' ? new Set<string>() : hiddenAmong(await developersOf(db, workspace), viewer);
  if (hidden.size === 0) return async (page) => [...page];
  return async (page) => {
    const veil = await createVeil(db, workspace, hidden, viewer, JSON.stringify(page));
    return page.map((event) => redactEvent(event, veil, isCausedBy(event, viewer)));
  };
}

/** Returns a function that redacts any other value with names or ids of people. */
export async function valueRedactor(db: Db, workspace: string, viewer: Principal): Promise<<T>(value: T) => Promise<T>> {
  const hidden = viewer.kind === 'operator' ? new Set<string>() : hiddenAmong(await developersOf(db, workspace), viewer);
  if (hidden.size === 0) return async (value) => value;
  return async (value) => redactValue(value, await createVeil(db, workspace, hidden, viewer, JSON.stringify(value)), false) as typeof value;
}

/** Whether the developer is hidden from the viewer. A private developer is hidden from everyone else. */
export const isHidden = ({ id, visibility }: { id: string | null; visibility: string | null }, viewer: Principal): boolean =>
  visibility === 'private' && id !== viewer.developerId;

/** Returns the ids of the developers that the viewer may not see. */
const hiddenAmong = (developers: readonly DeveloperRow[], viewer: Principal): Set<string> =>
  new Set(developers.filter((developer) => isHidden(developer, viewer)).map(({ id }) => id));

/** Ids as created by `newId`. */
const ID = /\b([a-z]+)_[0-9A-HJKMNP-TV-Z]{26}\b/g;

/**
 * Matches an id, together with an actor kind and an agent type before it. The lengths of these prefixes are limited. Otherwise
 * the search in a long word would start again at each letter.
 */
const MENTION = /(?:\b[a-z]{1,20}:)?(?:\b[a-z0-9-]{1,40}@)?\b([a-z]+_[0-9A-HJKMNP-TV-Z]{26})\b/g;

/**
 * For each kind of object, by id prefix: its table, and the column with its owner. The owner is a developer id, an actor or the
 * subject of a grant.
 */
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
  // A worktree that the server created has no owner here, because the server also chose its name.
  ws: ['worktrees', sql`case when made_by_server = 1 then null else actor end`],
};

/** Ids of worktrees may stay in texts, so that the next holder of a step can find the worktree. */
const MENTIONED = /^ws_/;

const BATCH_SIZE = 500;

/** Decides which ids and names the viewer may see. */
interface Veil {
  /** Whether the id belongs to a private developer or to an object of theirs. */
  isTheirs(id: string): boolean;
  /** Whether the id belongs to a worktree, or to an instance of a private developer. */
  isPlace(id: string): boolean;
  /** Returns the text without the ids that could link objects of a private developer. `known`: an id that may stay in the text. */
  withoutIds(text: string, known?: unknown): string;
  /** The viewer's own name. Items that are addressed to the viewer are not redacted. */
  readonly viewer: string | null;
}

/** Determines for every id in the text whether it belongs to a private developer. */
async function createVeil(db: Db, workspace: string, hidden: ReadonlySet<string>, viewer: Principal, text: string): Promise<Veil> {
  const instances = new Set((await instancesOf(db, workspace, [...hidden])).map((id) => `instance:${id}`));
  const byKind = Map.groupBy(new Set(Array.from(text.matchAll(ID), ([id]) => id)), (id) => id.slice(0, id.indexOf('_')));
  const theirs = new Set(hidden);
  /** Reads the owner of each id. Null: no developer owns the object. */
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
  const isOwnedByHidden = (owner: string | null): boolean =>
    owner !== null && (theirs.has(owner.replace(/^\w+:/, '')) || theirs.has(ownerOf(owner) ?? '') || instances.has(owner));
  /** An id without a row counts as private, because the deleted object may have belonged to a private developer. */
  const addTheirs = (ids: readonly string[], found: ReadonlyMap<string, string | null>): void => {
    for (const id of ids) {
      const owner = found.get(id);
      if (owner === undefined || isOwnedByHidden(owner)) theirs.add(id);
    }
  };
  // A grant may belong to a token, and a token to a developer. So grants are read first, to find their tokens, and classified last.
  const grantIds = byKind.get('grant') ?? [];
  const grants = await owners('grant', grantIds);
  const tokens = [...(byKind.get('tok') ?? []), ...[...grants.values()].flatMap((subject) => subject?.match(ID) ?? []).filter((id) => id.startsWith('tok_'))];
  addTheirs(tokens, await owners('tok', tokens));
  for (const [kind, ids] of byKind) if (kind in OWNERS && kind !== 'tok' && kind !== 'grant') addTheirs(ids, await owners(kind, ids));
  addTheirs(grantIds, grants);
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

/**
 * Fields that could link two objects of one developer, with the values that replace them in objects of a private developer. The
 * object's own id is not replaced, because it appears in no other object.
 */
const LINKS: Readonly<Record<string, unknown>> = {
  session_id: null,
  // Branch names may contain people's names, and commits have authors.
  branch: null,
  head: null,
  recent_commits: [],
  // The programs that a person runs, and the place where they run, may identify the person.
  agent_type: null,
  agent: null,
  agent_name: null,
  provider: null,
  model: null,
  client: PRIVATE,
  machine: PRIVATE,
  machine_name: PRIVATE,
  workspace_path: null,
  worktree: null,
  metadata: null,
  capabilities: [],
  runtime: PRIVATE_RUNTIME,
  // The work of one agent, session or context belongs to one person.
  current_task_id: null,
  task_ids: [],
  claim_ids: [],
  context_id: null,
};

/** Like `LINKS`, but for worktrees and instances. Their output schemas require a text in some of these fields. */
const PLACE_LINKS: Readonly<Record<string, unknown>> = {
  ...LINKS,
  path: PRIVATE,
  branch: PRIVATE,
  base_commit: null,
  merge_commit: null,
  task_ids: undefined,
  agent: PRIVATE,
  session_name: PRIVATE,
  backup_ref: null,
};

/** Fields of event payloads that could link two objects. Payloads have no fixed schema, so these fields are removed. */
const EVENT_LINKS = new Set([
  ...Object.keys(LINKS).filter((field) => field !== 'client'),
  // Each call and each agent run belongs to one person, so their ids are removed. Equal digests would show that two calls had equal arguments.
  ...['request_id', 'arguments_sha256', 'sha256', 'correlation', 'circumstances', 'approval_id', 'grant', 'grant_id', 'token_id', 'authorized_by'],
  ...[
    'tool',
    'thread_id',
    'reply_to_id',
    'check_id',
    'agent_id',
    'sender_id',
    'recipient_id',
    'message_ids',
    'superseded',
    'folder',
    'label',
    'agents',
    'source',
    'instance_id',
    'token_ids',
  ],
]);

/** Fields that name the owner of an object. The owner of an ask or a handoff is its sender. */
const OWNER_FIELDS = ['developer', 'developer_id', 'owner', 'actor', 'from', 'by', 'agent_id', 'assigned_agent_id', 'agent_name', 'sender_id', 'name'];

/** Redacts an answer, or a part of an answer, for the viewer. */
function redactValue(value: unknown, veil: Veil, within = false): unknown {
  if (typeof value === 'string') return veil.withoutIds(value);
  if (Array.isArray(value)) return value.map((inner) => redactValue(inner, veil, within));
  if (!isRecord(value)) return value;
  const own = ownIdField(value);
  const ownId = own === undefined ? undefined : (value[own] as string);
  const fields = Object.entries(value).map(([field, inner]) => [field, field === own ? redactOwnId(value[own] as string, veil) : inner] as const);
  const isPrivate = (ownId === undefined ? within : veil.isTheirs(ownId)) || isOfHidden(value, veil);
  if (isPrivate && value.to !== undefined && value.to === veil.viewer) return Object.fromEntries(fields);
  const links = ownId !== undefined && veil.isPlace(ownId) ? PLACE_LINKS : LINKS;
  return Object.fromEntries(
    fields.map(([field, inner]) => {
      if (field === own) return [field, inner];
      if (isPrivate && links[field] !== undefined && inner !== null && inner !== PRIVATE) return [field, links[field]];
      return [field, redactValue(inner, veil, isPrivate)];
    }),
  );
}

/** Returns the field with an object's own id, which is the first id field of the object. */
const ownIdField = (view: Record<string, unknown>): string | undefined =>
  Object.keys(view).find((field) => (field === 'id' || field.endsWith('_id')) && typeof view[field] === 'string');

/** Ids of private developers and of their tokens are hidden from other people, even in lists of developers or tokens. */
const redactOwnId = (id: string, veil: Veil): string => (/^(?:dev|tok)_|@|:/.test(id) ? veil.withoutIds(id) : id);

function isOfHidden(view: Record<string, unknown>, veil: Veil): boolean {
  return OWNER_FIELDS.some((field) => {
    const who = view[field];
    if (typeof who === 'string') return who === PRIVATE || (who !== '' && veil.withoutIds(who) === PRIVATE);
    return isRecord(who) && who.name === PRIVATE;
  });
}

const isCausedBy = ({ actor }: JournalEvent, { developerId }: Principal): boolean => developerId !== null && actor.endsWith(developerId);

/** Redacts an event for the viewer. `isOwn`: the viewer caused the event. */
function redactEvent(event: JournalEvent, veil: Veil, isOwn: boolean): JournalEvent {
  const actor = veil.withoutIds(event.actor);
  const isPrivate = actor.includes(PRIVATE);
  const own = event.subject?.match(ID)?.[0];
  const subject = event.subject === null ? null : own !== undefined && !/^(?:dev|tok)_/.test(own) ? event.subject : veil.withoutIds(event.subject);
  // A private developer's token, session or instance stays private, even if another person created or ended it.
  const isTheirs =
    isPrivate || (own !== undefined && veil.isTheirs(own)) || (event.subject !== null && veil.isTheirs(event.subject)) || isOfHidden(event.payload, veil);
  const payload = (isTheirs ? withoutLinks(event.payload) : event.payload) as Record<string, unknown>;
  const shown = mapTexts(payload, (text) => (text === own ? text : veil.withoutIds(text))) as Record<string, unknown>;
  // These texts were written for the caller, and may contain names that other people may not see.
  if (!isOwn) {
    delete shown.told;
    if (event.category === 'feedback') {
      delete shown.message;
      delete shown.required_action;
    }
  }
  return { ...event, actor, subject, session: isPrivate ? null : event.session, payload: shown };
}

function withoutLinks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLinks);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([field]) => !EVENT_LINKS.has(field));
  return Object.fromEntries(kept.map(([field, inner]) => [field, field === 'client' ? PRIVATE : withoutLinks(inner)]));
}

function mapTexts(value: unknown, word: (text: string) => string): unknown {
  if (typeof value === 'string') return word(value);
  if (Array.isArray(value)) return value.map((inner) => mapTexts(inner, word));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, mapTexts(inner, word)]));
}
