import type { RoleAction } from '../../api.ts';

/** `create`: the form has the focus. `token`: its panel is open. `whose`: everybody's, for operators. */
export interface TokenSearch {
  create?: true;
  token?: string;
  whose?: 'all';
}

export const tokenSearch = ({ create, token, whose }: Record<string, unknown>): TokenSearch => ({
  ...(create === true && { create }),
  ...(typeof token === 'string' && { token }),
  ...(whose === 'all' && { whose }),
});

/** `cwd`: the folder of the repository. */
export interface SetupSearch {
  cwd?: string;
}

export const setupSearch = ({ cwd }: Record<string, unknown>): SetupSearch => (typeof cwd === 'string' && cwd !== '' ? { cwd } : {});

export interface RoleSearch {
  needs?: RoleAction['access'];
}

const NEEDS: readonly RoleAction['access'][] = ['member', 'operator', 'server', 'token'];

export const roleSearch = ({ needs }: Record<string, unknown>): RoleSearch => {
  const known = NEEDS.find((access) => access === needs);
  return known ? { needs: known } : {};
};

export interface AuthorizeSearch {
  code?: string;
}

export const authorizeSearch = ({ code }: Record<string, unknown>): AuthorizeSearch => (typeof code === 'string' && code !== '' ? { code } : {});
