import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { agentIdOf, nameOf, ownerOf } from '../../../kernel/actor.ts';
import type { Principal } from '../../../kernel/call.ts';
import { notFound } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import type { DeveloperRow } from '../../../storage/schema-rows.ts';
import { isHidden, PRIVATE } from './redact.ts';
import { developersOf, findDeveloper } from './store.ts';

/** Decides which developers a viewer may see, and by which name. */
export interface Viewer {
  /** The developer that the viewer acts for; null for the operator. */
  readonly developerId: string | null;
  /** Whether the viewer may see the developer and their objects. An object without an owner (null) is visible. */
  sees(developerId: string | null): boolean;
  /** Returns the value if the viewer may see the developer, and otherwise `@private`. */
  show<T>(developerId: string | null | undefined, value: T): T | typeof PRIVATE;
  /** Returns the developer's name, or `@private` if the developer is hidden or the id is unknown. */
  name<Id extends string | null>(developerId: Id): string | Id;
  /**
   * Returns the name and id of an agent. All agents of private developers look the same, because the actions of a single agent
   * could identify its owner.
   */
  agent(actor: string, developerId?: string | null): { name: string; agent_id: string | null };
}

export async function viewerOf(db: Db, principal: Principal): Promise<Viewer> {
  const developers = await developersOf(db, principal.workspace);
  const known = new Map(developers.filter((developer) => !isHidden(developer, principal)).map(({ id, name }) => [id, name]));
  const sees: Viewer['sees'] = (id) => id === null || known.has(id);
  const name: Viewer['name'] = (id) => (id === null ? id : (known.get(id) ?? PRIVATE));
  return {
    developerId: principal.developerId,
    sees,
    show: (id, value) => (sees(id ?? null) ? value : PRIVATE),
    name,
    agent: (actor, owner = ownerOf(actor)) => (sees(owner) ? { name: nameOf(actor, name), agent_id: agentIdOf(actor) } : { name: PRIVATE, agent_id: null }),
  };
}

/** Returns the id and name of a developer as `viewer` may see them, for a row that was already read. */
export const developerSeenBy = <T extends { id: string | null; name: string | null; visibility: string | null }>(
  developer: T,
  viewer: Principal,
): Pick<T, 'id' | 'name'> => (isHidden(developer, viewer) ? { id: PRIVATE as T['id'], name: PRIVATE as T['name'] } : developer);

/**
 * SQL condition: whether answers to `viewer` show the fields of a row with a `developer_id`, as `redact` decides. Every filter
 * by a field that can be redacted needs this condition. Otherwise a caller could find out the value by trying.
 */
export const showsFieldsTo = ({ operator, workspace, developerId }: Principal): RawBuilder<SqlBool> =>
  operator
    ? sql`1 = 1`
    : sql`(developer_id is null or developer_id = ${developerId ?? ''} or developer_id in
        (select id from developers where workspace_id = ${workspace} and visibility <> 'private'))`;

/**
 * Finds a developer by name, `@name` or id. The refusal is the same for a developer that `viewer` may not see and for a developer
 * that does not exist.
 */
export async function developerFor(db: Db, workspace: string, viewer: Principal, who: string): Promise<DeveloperRow> {
  const name = who.replace(/^@/, '');
  const developer = (await findDeveloper(db, workspace, { name })) ?? (await findDeveloper(db, workspace, { id: name }));
  if (!developer || isHidden(developer, viewer)) {
    throw notFound(
      'DEVELOPER_NOT_FOUND',
      `No developer in this workspace is named ${JSON.stringify(name)}.`,
      'Call covibe_team with operation "state": its work and sessions name developers. At a terminal: `covenant developers list`.',
    );
  }
  return developer;
}
