import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { agentIdOf, nameOf, ownerOf } from '../../../kernel/actor.ts';
import type { Principal } from '../../../kernel/call.ts';
import { notFound } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import type { DeveloperRow } from '../../../storage/schema-rows.ts';
import { isHidden, PRIVATE } from './redact.ts';
import { developersOf, findDeveloper } from './store.ts';

/** Decides which developers a viewer may know, and how each is called in front of them. */
export interface Viewer {
  /** The developer that the viewer acts for; null for the operator. */
  readonly developerId: string | null;
  /** Whether the viewer may know the developer, and so read about their things. A thing of nobody (null) is not hidden. */
  sees(developerId: string | null): boolean;
  /** The value if the viewer may know the developer, else `@private`. */
  show<T>(developerId: string | null | undefined, value: T): T | typeof PRIVATE;
  /** A hidden developer is called `@private`, and so is an id of which nothing is known. */
  name<Id extends string | null>(developerId: Id): string | Id;
  /** With the agent's address. A private developer's agents cannot be told apart, or their doings would tell whose they are. */
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

/** How a developer whose row was read anyway appears to `viewer`. */
export const developerSeenBy = <T extends { id: string | null; name: string | null; visibility: string | null }>(
  developer: T,
  viewer: Principal,
): Pick<T, 'id' | 'name'> => (isHidden(developer, viewer) ? { id: PRIVATE as T['id'], name: PRIVATE as T['name'] } : developer);

/**
 * Whether the answers that `viewer` gets show the fields of a row with a `developer_id`, as `redact` decides it. A filter by
 * a hidden field must ask this: otherwise a caller who tries values finds the hidden one.
 */
export const showsFieldsTo = ({ operator, workspace, developerId }: Principal): RawBuilder<SqlBool> =>
  operator
    ? sql`1 = 1`
    : sql`(developer_id is null or developer_id = ${developerId ?? ''} or developer_id in
        (select id from developers where workspace_id = ${workspace} and visibility <> 'private'))`;

/**
 * The developer that `who` names, by name, `@name` or id, as far as `viewer` may know: a private one is not found, as if there
 * were none.
 */
export async function developerFor(db: Db, workspace: string, viewer: Principal, who: string): Promise<DeveloperRow> {
  const name = who.replace(/^@/, '');
  const developer = (await findDeveloper(db, workspace, { name })) ?? (await findDeveloper(db, workspace, { id: name }));
  if (!developer || isHidden(developer, viewer)) {
    throw notFound('DEVELOPER_NOT_FOUND', `There is no developer ${JSON.stringify(name)} in this workspace.`, 'covibe_team state names those there are.');
  }
  return developer;
}
