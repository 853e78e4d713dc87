import { isRecord } from '../../../kernel/input.ts';
import type { JournalEvent } from '../../../storage/journal.ts';

export const PRIVATE = '@private';

/** Ids as `newId` makes them. */
export const ID = /\b([a-z]+)_[0-9A-HJKMNP-TV-Z]{26}\b/g;

/** The runtime that others read of a private developer's agent. */
export const PRIVATE_RUNTIME = 'custom';

/**
 * Fields by which two things of one developer can be tied together, and the value that replaces them in a view of a private
 * developer's thing. A view's own id stays: it stands nowhere else.
 */
const LINKS: Readonly<Record<string, unknown>> = {
  session_id: null,
  // People put their names into those of their branches, and commits have authors.
  branch: null,
  head: null,
  recent_commits: [],
  // Which programs somebody runs, and where, may tell who they are.
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
  // What one agent, session or context is about is one person's work.
  current_task_id: null,
  task_ids: [],
  claim_ids: [],
  context_id: null,
};

/** Of worktrees and instances, whose views have a text there in any case. */
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

/** The same in events. Their payloads are free, so the fields are left out. */
const EVENT_LINKS = new Set([
  ...Object.keys(LINKS).filter((field) => field !== 'client'),
  // One call, and one run of an agent, is one person's; so are equal arguments, which have equal digests.
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

/** Fields that say whose a view is. An ask or handoff is of whom it is from. */
const OWNERS = ['developer', 'developer_id', 'owner', 'actor', 'from', 'by', 'agent_id', 'assigned_agent_id', 'agent_name', 'sender_id', 'name'];

/** Decides about ids and names. */
export interface Veil {
  /** Whether the id is of a private developer or of something of theirs. */
  isTheirs(id: string): boolean;
  /** Whether the id is of a worktree, or of an instance of a private developer. */
  isPlace(id: string): boolean;
  /** The text without the ids by which a private developer's things could be tied together. `known`: an id that may stay. */
  withoutIds(text: string, known?: unknown): string;
  /** The viewer's own name: what is handed to them they read in full. */
  readonly viewer: string | null;
}

/** An answer, or a part of one, as the viewer may read it. */
export function veiled(value: unknown, veil: Veil, within = false): unknown {
  if (typeof value === 'string') return veil.withoutIds(value);
  if (Array.isArray(value)) return value.map((inner) => veiled(inner, veil, within));
  if (!isRecord(value)) return value;
  const own = ownField(value);
  const ownId = own === undefined ? undefined : (value[own] as string);
  const fields = Object.entries(value).map(([field, inner]) => [field, field === own ? ownWord(value[own] as string, veil) : inner] as const);
  const isPrivate = (ownId === undefined ? within : veil.isTheirs(ownId)) || isOf(value, veil);
  if (isPrivate && value.to !== undefined && value.to === veil.viewer) return Object.fromEntries(fields);
  const links = ownId !== undefined && veil.isPlace(ownId) ? PLACE_LINKS : LINKS;
  return Object.fromEntries(
    fields.map(([field, inner]) => {
      if (field === own) return [field, inner];
      if (isPrivate && links[field] !== undefined && inner !== null && inner !== PRIVATE) return [field, links[field]];
      return [field, veiled(inner, veil, isPrivate)];
    }),
  );
}

/** A view names the thing that it is of first. */
const ownField = (view: Record<string, unknown>): string | undefined =>
  Object.keys(view).find((field) => (field === 'id' || field.endsWith('_id')) && typeof view[field] === 'string');

/** A developer and a token have no id for others, not even where they are listed. */
const ownWord = (id: string, veil: Veil): string => (/^(?:dev|tok)_|@|:/.test(id) ? veil.withoutIds(id) : id);

function isOf(view: Record<string, unknown>, veil: Veil): boolean {
  return OWNERS.some((field) => {
    const who = view[field];
    if (typeof who === 'string') return who === PRIVATE || (who !== '' && veil.withoutIds(who) === PRIVATE);
    return isRecord(who) && who.name === PRIVATE;
  });
}

/** An event as the viewer may read it. `isOwn`: they caused it. */
export function veiledEvent(event: JournalEvent, veil: Veil, isOwn: boolean): JournalEvent {
  const actor = veil.withoutIds(event.actor);
  const isPrivate = actor.includes(PRIVATE);
  const own = event.subject?.match(ID)?.[0];
  const subject = event.subject === null ? null : own !== undefined && !/^(?:dev|tok)_/.test(own) ? event.subject : veil.withoutIds(event.subject);
  // A token, a session or an instance of theirs is theirs whoever made it or ended it.
  const isTheirs =
    isPrivate || (own !== undefined && veil.isTheirs(own)) || (event.subject !== null && veil.isTheirs(event.subject)) || isOf(event.payload, veil);
  const payload = (isTheirs ? withoutLinks(event.payload) : event.payload) as Record<string, unknown>;
  const shown = mapped(payload, (text) => (text === own ? text : veil.withoutIds(text))) as Record<string, unknown>;
  // It was worded for whoever called, and calls people by names that others may not read, or may no longer.
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

function mapped(value: unknown, word: (text: string) => string): unknown {
  if (typeof value === 'string') return word(value);
  if (Array.isArray(value)) return value.map((inner) => mapped(inner, word));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, mapped(inner, word)]));
}
