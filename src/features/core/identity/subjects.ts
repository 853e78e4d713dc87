import type { Principal } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { onlyMatch } from '../../../kernel/tail.ts';
import type { Db } from '../../../storage/engine.ts';
import type { NamedSubject, Subjects } from '../capabilities/index.ts';
import { callers, callersOf } from './callers.ts';
import { requireDeveloper } from './people.ts';
import { namesFor } from './privacy.ts';
import { PRIVATE } from './private-fields.ts';
import { findTokensByTail, hasInstance, tokensById } from './store.ts';

/** Holders of grants, as people name them and as grants store them. */
export const grantSubjects = {
  async resolve(db: Db, workspace: string, named: NamedSubject): Promise<string> {
    if (named.developer) return `developer:${(await requireDeveloper({ db, workspace }, named.developer)).id}`;
    if (named.token) {
      const found = await findTokensByTail(db, workspace, named.token);
      return `token:${onlyMatch(
        found.map((token) => token.id),
        named.token,
        'token',
      )}`;
    }
    if (named.instance) {
      if (!(await hasInstance(db, workspace, named.instance)))
        throw new Refusal('INSTANCE_NOT_FOUND', `There is no instance ${JSON.stringify(named.instance)}.`, 'covenant instances list', { field: 'instance' });
      return `instance:${named.instance}`;
    }
    return 'operator';
  },

  async names(db: Db, workspace: string, viewer: Principal, subjects: readonly string[]): Promise<(subject: string) => string> {
    const ids = (kind: string) => subjects.flatMap((subject) => (subject.startsWith(`${kind}:`) ? [subject.slice(kind.length + 1)] : []));
    const developer = await namesFor(db, workspace, viewer);
    const tokens = new Map((await tokensById(db, workspace, ids('token'))).map((token) => [`token:${token.id}`, token]));
    return (subject) => {
      if (subject.startsWith('developer:')) return developer(subject.slice('developer:'.length));
      const token = tokens.get(subject);
      if (!token) return subject;
      const owner = token.developer_id === null ? token.kind : developer(token.developer_id);
      // People put their names into labels.
      return owner === PRIVATE ? PRIVATE : `${owner}, ${token.label}`;
    };
  },

  hidden: PRIVATE,
  callersOf,
  callers,
} satisfies Subjects;
