import { Refusal } from '../../kernel/errors.ts';
import { onlyMatch } from '../../kernel/tail.ts';
import type { Db } from '../../storage/engine.ts';
import { requireDeveloper } from './people.ts';
import { shown } from './privacy.ts';
import { developersOf, findTokensByTail, type TokenWithDeveloper, workspaceTokens } from './store.ts';

/** Holders of grants, as people name them and as grants store them. */
export const grantSubjects = {
  async resolve(db: Db, workspace: string, named: { developer?: string; token?: string; instance?: string }): Promise<string> {
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
      const known = (await workspaceTokens(db, workspace)).some((token) => token.instance_id === named.instance);
      if (!known)
        throw new Refusal('INSTANCE_NOT_FOUND', `There is no instance ${JSON.stringify(named.instance)}.`, 'covenant instances list', { field: 'instance' });
      return `instance:${named.instance}`;
    }
    return 'operator';
  },

  async names(db: Db, workspace: string): Promise<(subject: string) => string> {
    const developers = new Map((await developersOf(db, workspace)).map((developer) => [`developer:${developer.id}`, shown(developer, null).name]));
    const owner = (token: TokenWithDeveloper) => developers.get(`developer:${token.developer_id}`) ?? token.kind;
    const tokens = new Map((await workspaceTokens(db, workspace)).map((token) => [`token:${token.id}`, `${owner(token)}, ${token.label}`]));
    return (subject) => developers.get(subject) ?? tokens.get(subject) ?? subject;
  },
};
