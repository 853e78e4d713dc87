import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Principal } from '../../../kernel/call.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { endsIn } from '../../../kernel/find-by-suffix.ts';
import { wordsPattern } from '../../../kernel/like.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { readAnchor, readHead } from '../../../storage/journal.ts';
import type { Database } from '../../../storage/schema-rows.ts';
import { showsFieldsTo } from '../../core/identity/index.ts';
import { HUMAN } from '../../workflow/messages/index.ts';
import { find, type LookupKind } from './contract.ts';
import { PLACES } from './places.ts';

const TITLE_SHOWN = 200;
const EVENT = /^#?([1-9][0-9]{0,14})$/;

export const lookupTools: Implementation[] = [
  implement(find, {
    read: async ({ text, limit }, { reader, workspace, principal }) => {
      const found = await findByText(reader, principal, text, limit);
      const items = found.map(({ kind, id, title, within }) => ({ kind, id, title: beginning(title, TITLE_SHOWN), path: PLACES[kind](id, within) }));
      const seq = EVENT.exec(text)?.[1];
      if (seq === undefined || Number(seq) > ((await readHead(reader, workspace))?.seq ?? 0)) return ok({ items });
      if (Number(seq) <= (await readAnchor(reader, workspace)).seq) return ok({ items });
      return ok({ items: [{ kind: 'event' as const, id: seq, title: `Event ${seq}`, path: PLACES.event(seq, '') }, ...items] });
    },
  }),
];

export interface LookupMatch {
  readonly kind: LookupKind;
  readonly id: string;
  readonly title: string;
  readonly within: string;
}

/** The shortest end of an id to search for. Shorter ends match too many ids. */
const SHORTEST_TAIL = 4;
const OWN_PREFIX = /^([a-z]+_)[0-9A-Z]/;
/** Only this many of the newest items of each kind are searched by title, because no index covers words within a title. */
const LOOKED_THROUGH = 10_000;

/** Returns at most `limit` items. Items that match by id come first. */
export async function findByText(db: Db, viewer: Principal, text: string, limit: number): Promise<LookupMatch[]> {
  const prefix = OWN_PREFIX.exec(text)?.[1];
  const sources = SOURCES.filter(
    (source) => (viewer.operator || !source.guarded) && (prefix === undefined || source.prefix === prefix || source.prefix === ''),
  );
  const byId: LookupMatch[] = [];
  const byTitle: LookupMatch[] = [];
  for (const source of sources) {
    if (text.length >= SHORTEST_TAIL && !/\s/.test(text)) byId.push(...(await search(db, viewer, source, 'id', text, limit)));
    if (source.byTitle) byTitle.push(...(await search(db, viewer, source, 'title', text, limit)));
    // Each query reads many rows, so other calls run in between.
    await yieldToEventLoop();
  }
  const known = new Set(byId.map(({ id }) => id));
  return [...byId, ...byTitle.filter(({ id }) => !known.has(id))].slice(0, limit);
}

interface LookupSource {
  readonly kind: LookupKind;
  readonly table: keyof Database;
  readonly prefix: string;
  /** The column with the title that people know. If `byTitle` is true, the search looks for words in it. */
  readonly title: string;
  readonly byTitle: boolean;
  readonly within?: string;
  /** True if only operators may find these items. */
  readonly guarded?: true;
  /** Returns the condition for rows whose title the viewer may read. Unset if everybody may read all titles. */
  readonly readable?: (viewer: Principal) => RawBuilder<SqlBool>;
}

/**
 * SQL condition for the messages that the viewer may read. Everybody may read messages from and to people. Messages between
 * agents may be read only by operators and by the developers of the two agents.
 */
function readableMail({ operator, workspace, developerId }: Principal): RawBuilder<SqlBool> {
  if (operator) return sql`1 = 1`;
  const own = sql`select id from agents where workspace_id = ${workspace} and developer_id = ${developerId ?? ''}`;
  return sql`(sender_id = ${HUMAN} or recipient_id = ${HUMAN} or sender_id in (${own}) or recipient_id in (${own}))`;
}

const titled = { title: 'title', byTitle: true } as const;
const named = { title: 'name', byTitle: true } as const;

const SOURCES: readonly LookupSource[] = [
  { kind: 'task', table: 'tasks', prefix: 'task_', ...titled },
  { kind: 'workflow', table: 'workflows', prefix: 'wf_', ...named },
  { kind: 'workflow task', table: 'workflow_tasks', prefix: 'tk_', ...named, within: 'workflow_id' },
  { kind: 'instance', table: 'instances', prefix: '', title: 'branch_name', byTitle: true, readable: showsFieldsTo },
  { kind: 'cycle', table: 'cycles', prefix: 'cyc_', title: 'feature', byTitle: true },
  { kind: 'workstream', table: 'workstreams', prefix: 'wst_', ...titled },
  { kind: 'overlap', table: 'overlap_warnings', prefix: 'warn_', title: 'title', byTitle: false },
  { kind: 'claim', table: 'claims', prefix: 'claim_', title: 'repo', byTitle: false },
  { kind: 'message', table: 'messages', prefix: 'msg_', title: 'subject', byTitle: true, readable: readableMail },
  { kind: 'ask', table: 'asks', prefix: 'ask_', title: 'message', byTitle: true },
  { kind: 'handoff', table: 'handoffs', prefix: 'handoff_', title: 'message', byTitle: true },
  { kind: 'approval', table: 'approvals', prefix: 'apr_', title: 'name', byTitle: false, guarded: true },
  { kind: 'grant', table: 'grants', prefix: 'grant_', title: 'action', byTitle: true, guarded: true },
  { kind: 'token', table: 'tokens', prefix: 'tok_', title: 'label', byTitle: false, guarded: true },
];

/** Searches the title as the viewer sees it, so that nobody can find a title that is hidden from them. */
async function search(db: Db, viewer: Principal, { kind, table, title, within, readable }: LookupSource, by: 'id' | 'title', text: string, limit: number) {
  const all = sql`from ${sql.table(table)} where workspace_id = ${viewer.workspace}`;
  const shown = readable ? sql`case when ${readable(viewer)} then ${sql.ref(title)} else '' end` : sql.ref(title);
  const found =
    by === 'id'
      ? sql`${all} and id in (select id ${all} and ${endsIn(text)})`
      : sql`from (select * ${all} order by id desc limit ${LOOKED_THROUGH}) as newest where ${like(shown, wordsPattern(text))}`;
  const { rows } = await sql<Omit<LookupMatch, 'kind'>>`
    select id, coalesce(${shown}, '') as title, ${within ? sql.ref(within) : sql.lit('')} as within
    ${found} order by id desc limit ${limit}`.execute(db);
  return rows.map((row): LookupMatch => ({ kind, ...row }));
}

const like = (expression: Expression<unknown>, pattern: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`lower(${expression}) like ${pattern.toLowerCase()} escape '\\'`;
