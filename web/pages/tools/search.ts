import type { CatalogueTool, Grant } from '../../api.ts';

/** What the addresses of these pages hold. */
type Given = Record<string, unknown>;

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;
const place = (value: unknown): number | undefined => (typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined);

/** Without those that are not given. */
const given = <T extends Given>(search: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as never;

const TOOL_STATES: readonly CatalogueTool['state'][] = ['up', 'starting', 'down', 'withheld'];
const GRANT_STATUSES: readonly Grant['status'][] = ['live', 'exhausted', 'expired', 'revoked'];

/** `tool`: whose panel is open. `who` and `can`: the question that is asked, as `developer:mira` and a tool. */
export const catalogueSearch = ({ q, server, state, tool, who, can }: Given) =>
  given({ q: text(q), server: text(server), state: TOOL_STATES.find((each) => each === state), tool: text(tool), who: text(who), can: text(can) });
export type CatalogueSearch = ReturnType<typeof catalogueSearch>;

/** `server`: whose panel is open. */
export const serverSearch = ({ server }: Given) => given({ server: text(server) });

/** `grant`: whose panel is open; `new`: one is being given, of `action` to `who`. */
export const grantSearch = ({ grant, status, q, action, who }: Given) =>
  given({ grant: text(grant), status: GRANT_STATUSES.find((each) => each === status), q: text(q), action: text(action), who: text(who) });
export type GrantSearch = ReturnType<typeof grantSearch>;

/** `from` and `callers`: the first tool and the first token that are shown. */
export const matrixSearch = ({ q, server, from, callers }: Given) => given({ q: text(q), server: text(server), from: place(from), callers: place(callers) });
export type MatrixSearch = ReturnType<typeof matrixSearch>;

/** `change`: whose panel is open. */
export const changeSearch = ({ change, show }: Given) => given({ change: text(change), show: show === 'rejected' ? ('rejected' as const) : undefined });
export type ChangeSearch = ReturnType<typeof changeSearch>;
