import { type SqlBool, sql } from 'kysely';
import type { Principal } from '../../kernel/context.ts';
import { tailPattern, wordsPattern } from '../../kernel/tail.ts';
import type { Database } from '../../storage/database.ts';
import type { Db } from '../../storage/engine.ts';
import type { Kind } from './places.ts';

interface Source {
  readonly kind: Kind;
  readonly table: keyof Database;
  readonly prefix: string;
  /** The column that people know it by; searched for words unless nobody would. */
  readonly title: string;
  readonly byTitle: boolean;
  readonly within?: string;
  /** Only operators may list it. */
  readonly guarded?: true;
}

const titled = { title: 'title', byTitle: true } as const;
const named = { title: 'name', byTitle: true } as const;

const SOURCES: readonly Source[] = [
  { kind: 'task', table: 'tasks', prefix: 'task_', ...titled },
  { kind: 'workflow', table: 'workflows', prefix: 'wf_', ...named },
  { kind: 'workflow task', table: 'workflow_tasks', prefix: 'tk_', ...named, within: 'workflow_id' },
  { kind: 'instance', table: 'instances', prefix: '', title: 'branch_name', byTitle: true },
  { kind: 'cycle', table: 'cycles', prefix: 'cyc_', title: 'feature', byTitle: true },
  { kind: 'workstream', table: 'workstreams', prefix: 'wst_', ...titled },
  { kind: 'overlap', table: 'overlap_warnings', prefix: 'warn_', title: 'title', byTitle: false },
  { kind: 'claim', table: 'claims', prefix: 'claim_', title: 'repo', byTitle: false },
  { kind: 'message', table: 'messages', prefix: 'msg_', title: 'subject', byTitle: true },
  { kind: 'ask', table: 'asks', prefix: 'ask_', title: 'message', byTitle: true },
  { kind: 'handoff', table: 'handoffs', prefix: 'handoff_', title: 'message', byTitle: true },
  { kind: 'approval', table: 'approvals', prefix: 'apr_', title: 'name', byTitle: false, guarded: true },
  { kind: 'grant', table: 'grants', prefix: 'grant_', title: 'action', byTitle: true, guarded: true },
  { kind: 'token', table: 'tokens', prefix: 'tok_', title: 'label', byTitle: false, guarded: true },
];

export interface Found {
  readonly kind: Kind;
  readonly id: string;
  readonly title: string;
  readonly within: string;
}

/** Fewer letters than these end too many ids to mean one of them. */
const SHORTEST_TAIL = 4;
const OWN_PREFIX = /^([a-z]+_)[0-9A-Z]/;

/** A few of each kind: those whose id ends so first. */
export async function findByText(db: Db, { workspace, operator }: Principal, text: string, limit: number): Promise<Found[]> {
  const prefix = OWN_PREFIX.exec(text)?.[1];
  const sources = SOURCES.filter((source) => (operator || !source.guarded) && (prefix === undefined || source.prefix === prefix || source.prefix === ''));
  const byId: Found[] = [];
  const byTitle: Found[] = [];
  for (const source of sources) {
    if (text.length >= SHORTEST_TAIL && !/\s/.test(text)) byId.push(...(await search(db, workspace, source, 'id', tailPattern(text), limit)));
    if (source.byTitle) byTitle.push(...(await search(db, workspace, source, source.title, wordsPattern(text), limit)));
  }
  const known = new Set(byId.map(({ id }) => id));
  return [...byId, ...byTitle.filter(({ id }) => !known.has(id))].slice(0, limit);
}

async function search(db: Db, workspace: string, source: Source, column: string, pattern: string, limit: number): Promise<Found[]> {
  const { rows } = await sql<Omit<Found, 'kind'>>`
    select id, coalesce(${sql.ref(source.title)}, '') as title, ${source.within ? sql.ref(source.within) : sql.lit('')} as within
    from ${sql.table(source.table)}
    where workspace_id = ${workspace} and ${sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern.toLowerCase()} escape '\\'`}
    order by id desc limit ${limit}`.execute(db);
  return rows.map((row) => ({ kind: source.kind, ...row }));
}
