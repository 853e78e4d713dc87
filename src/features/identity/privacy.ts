import type { Principal } from '../../kernel/context.ts';
import { Refusal } from '../../kernel/errors.ts';
import type { Db } from '../../storage/engine.ts';
import type { JournalEvent } from '../../storage/journal.ts';
import { developersOf, findDeveloper, workspaceTokens } from './store.ts';
import type { DeveloperRow } from './tables.ts';

export const PRIVATE = '@private';

/** How a developer appears to `viewer` (nobody in particular: null): a private one only to themselves. */
export function shown<T extends { id: string | null; name: string | null; visibility: string | null }>(
  developer: T,
  viewer: Principal | null,
): Pick<T, 'id' | 'name'> {
  const hidden = developer.visibility === 'private' && developer.id !== viewer?.developerId;
  return hidden ? { id: PRIVATE as T['id'], name: PRIVATE as T['name'] } : { id: developer.id, name: developer.name };
}

/** How developers are called in front of `viewer`: by name, a private one by nothing but that; unknown ids read the same. */
export async function namesFor(db: Db, workspace: string, viewer: Principal | null): Promise<(developerId: string) => string> {
  const names = new Map((await developersOf(db, workspace)).map((developer) => [developer.id, shown(developer, viewer).name]));
  return (developerId) => names.get(developerId) ?? PRIVATE;
}

/**
 * The developer that `who` names, by name, `@name` or id, as far as `viewer` may know: a private one is not found, as if there
 * were none.
 */
export async function developerFor(db: Db, workspace: string, viewer: Principal, who: string): Promise<DeveloperRow> {
  const name = who.replace(/^@/, '');
  const developer = (await findDeveloper(db, workspace, { name })) ?? (await findDeveloper(db, workspace, { id: name }));
  if (!developer || shown(developer, viewer).id === PRIVATE) {
    throw new Refusal('DEVELOPER_NOT_FOUND', `There is no developer ${JSON.stringify(name)} in this workspace.`, 'covibe_team state names those there are.');
  }
  return developer;
}

/** Work belongs to somebody: a caller that is no developer, such as the operator, can own none. */
export function callingDeveloper(principal: Principal): string {
  if (principal.developerId) return principal.developerId;
  throw new Refusal(
    'DEVELOPER_REQUIRED',
    'This call is for developers and their agents.',
    'Call with a token made by `covenant tokens create --developer NAME`.',
  );
}

/**
 * Events as `viewer` may see them. The journal has no names but those in the words of feedback; an id followed over time is
 * a person too. The operator gets the rows as they are: whoever checks the chain needs them, and can read the database anyway.
 */
export async function redactor(db: Db, workspace: string, viewer: Principal): Promise<(event: JournalEvent) => JournalEvent> {
  const hide = await hider(db, workspace, viewer);
  if (!hide) return (event) => event;
  return (event) => {
    const redacted = hide(event);
    if (redacted.actor.includes(PRIVATE)) {
      // One run of an agent is one person's.
      redacted.session = null;
      delete redacted.payload.correlation;
      // People put their names into those of their branches.
      delete redacted.payload.branch;
      // Which agents they run is theirs to tell, and each has tools of its own.
      delete redacted.payload.agent_type;
      delete redacted.payload.tool;
      if (redacted.payload.client !== undefined) redacted.payload.client = PRIVATE;
    }
    // It was worded for whoever called, and calls people by names that others may not read, or may no longer.
    if (!isBy(event, viewer)) {
      delete redacted.payload.told;
      if (event.category === 'feedback') {
        delete redacted.payload.message;
        delete redacted.payload.required_action;
      }
    }
    return redacted;
  };
}

/** The same for anything else that says who did it. */
export async function hiding(db: Db, workspace: string, viewer: Principal): Promise<<T>(value: T) => T> {
  return (await hider(db, workspace, viewer)) ?? ((value) => value);
}

/** Undefined where there is nobody to hide. */
async function hider(db: Db, workspace: string, viewer: Principal): Promise<(<T>(value: T) => T) | undefined> {
  if (viewer.kind === 'operator') return undefined;
  const developers = await developersOf(db, workspace);
  const hidden = new Set(developers.filter(({ visibility, id }) => visibility === 'private' && id !== viewer.developerId).map(({ id }) => id));
  if (hidden.size === 0) return undefined;
  // Their tokens' ids would tell their events apart from each other's just as well.
  const tokens = (await workspaceTokens(db, workspace)).filter((token) => token.developer_id && hidden.has(token.developer_id));
  // An instance has a name that everybody sees; what it does is the doing of whoever it works for.
  const instances = tokens.flatMap(({ instance_id }) => (instance_id === null ? [] : [`"instance:${instance_id}"`]));
  const ids = [...hidden, ...tokens.map(({ id }) => id)];
  const mentioned = new RegExp([...ids, ...instances].join('|'));
  // So much may stand before an id and no more: a long word would be looked through from each of its letters.
  const pattern = new RegExp([`(?:[a-z]{1,20}:)?(?:[a-z0-9-]{1,40}@)?(?:${ids.join('|')})`, ...instances].join('|'), 'g');
  const hide = (found: string): string => (found.startsWith('"') ? `"${PRIVATE}"` : PRIVATE);
  return <T>(value: T) => {
    const text = JSON.stringify(value);
    return JSON.parse(mentioned.test(text) ? text.replace(pattern, hide) : text) as T;
  };
}

const isBy = ({ actor }: JournalEvent, { developerId }: Principal): boolean => developerId !== null && actor.endsWith(developerId);
