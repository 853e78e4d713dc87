import pg from 'pg';
import { vi } from 'vitest';

export interface Cost {
  readonly statements: number;
  /** How many times the code waited for an answer before it sent the next statement. */
  readonly trips: number;
}

type Query = (this: pg.Client, ...args: unknown[]) => unknown;
/** The original function, before a spy replaces it. */
const query = pg.Client.prototype.query as unknown as Query;
type Connect = (this: pg.Pool) => Promise<pg.PoolClient>;
const connect = pg.Pool.prototype.connect as unknown as Connect;

const textOf = (query: unknown): string => (typeof query === 'string' ? query : String((query as { text: unknown }).text));

/** Counts the statements of PostgreSQL transactions, from the first one to the commit, because other writers have to wait for that time. */
export async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  /** For each connection that is in a transaction, the number of statements without an answer. */
  const underWay = new Map<pg.Client, number>();
  let [statements, trips] = [0, 0];
  const counted: Query = function (...args) {
    const answer = query.apply(this, args) as Promise<unknown>;
    const text = textOf(args[0]);
    if (text.startsWith('begin')) underWay.set(this, 0);
    const before = underWay.get(this);
    if (before === undefined) return answer;
    statements++;
    if (before === 0) trips++;
    underWay.set(this, before + 1);
    if (/^(commit|rollback)$/.test(text)) underWay.delete(this);
    const answered = () => underWay.has(this) && underWay.set(this, (underWay.get(this) ?? 1) - 1);
    answer.then(answered, answered);
    return answer;
  };
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(counted as never);
  try {
    await work();
    return { statements, trips };
  } finally {
    spy.mockRestore();
  }
}

/**
 * From now on, each PostgreSQL transaction fails once with a deadlock after all its work, so that its callback runs again. The transactions of a pool run one
 * after another for each workspace, so the next one repeats the same work.
 */
export function undoEveryFirstCommit(): void {
  const poolOf = new WeakMap<object, pg.Pool>();
  const begunAs = new WeakMap<object, string>();
  const undone = new WeakMap<pg.Pool, Set<string>>();
  const connecting: Connect = async function () {
    const client = await connect.call(this);
    poolOf.set(client, this);
    return client;
  };
  const undoing: Query = async function (...args) {
    const text = textOf(args[0]);
    if (text.startsWith('begin')) begunAs.set(this, text);
    const [pool, begun] = [poolOf.get(this), begunAs.get(this)];
    if (text !== 'commit' || !pool || !begun) return await query.apply(this, args);
    const known = undone.get(pool) ?? new Set();
    undone.set(pool, known);
    if (known.delete(begun)) return await query.apply(this, args);
    known.add(begun);
    await query.call(this, 'rollback');
    throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
  };
  vi.spyOn(pg.Pool.prototype, 'connect').mockImplementation(connecting as never);
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(undoing as never);
}
