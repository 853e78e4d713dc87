import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Principal } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import type { Db } from '../../../storage/engine.ts';
import type { DeveloperRow } from '../../../storage/schema-rows.ts';
import { PRIVATE } from './redact.ts';
import { developersOf, findDeveloper } from './store.ts';

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
 * Whether the answers that `viewer` gets show the fields of a row with a `developer_id`, as `redact` decides it. A filter by
 * a hidden field must ask this: else whoever tries its values finds the hidden one.
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
