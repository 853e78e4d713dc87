import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRows } from '../../../storage/rows.ts';
import type { AskRow, ClaimRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper } from '../../core/identity/index.ts';
import { mayRelease } from './claims.ts';
import { board, LIST_SECTIONS, list, listClaims, type ShownClaim, showClaim } from './contract.ts';
import { viewsFor } from './present.ts';
import { announcementsSince, asksBy, asksTo, claimNamed, handoffsBy, handoffsTo, liveClaimRows, pageOfClaims, recentAsks } from './store.ts';
import { answersFor } from './waiting.ts';

const DEFAULT_LIMIT = 20;
const ON_BOARD = 100;
const RECENT_MS = 7 * 86_400_000;

type Listed = Output<typeof list>;

export const listTools: Implementation[] = [
  implement(list, {
    write: async (tx, { what, limit = DEFAULT_LIMIT }, ctx) => {
      const developerId = callingDeveloper(ctx.principal);
      const { agentType } = ctx.principal;
      const sections = new Set(what ? [what] : LIST_SECTIONS);
      const show = await viewsFor(tx.db, ctx.principal, tx.now);
      const listed: Listed = { cut: [] };
      /** Each query fetches one row more than the limit, so that `cut` can report the lists that are longer. */
      const first = <T>(name: string, rows: readonly T[]): T[] => {
        if (rows.length > limit) listed.cut.push(name);
        return rows.slice(0, limit);
      };
      if (sections.has('claims')) {
        // The caller's own claims come first, because the caller has to renew or release them.
        const claims = (await liveClaimRows(tx.db, tx.workspace, tx.now)).map(show.claim).toSorted((a, b) => Number(b.own) - Number(a.own));
        listed.claims = first('claims', claims);
      }
      if (sections.has('asks')) {
        const toMe = first('asks_to_me', await asksTo(tx.db, tx.workspace, developerId, agentType, tx.now, limit + 1));
        const byMe = first('asks_by_me', await asksBy(tx.db, tx.workspace, developerId, tx.now, limit + 1));
        listed.asks_to_me = (await markRead(tx, ctx, toMe)).map(show.ask);
        listed.asks_by_me = (await markAnswersDelivered(tx, ctx, byMe)).map(show.ask);
      }
      if (sections.has('handoffs')) {
        listed.handoffs_to_me = first('handoffs_to_me', await handoffsTo(tx.db, tx.workspace, developerId, agentType, limit + 1)).map(show.handoff);
        listed.handoffs_by_me = first('handoffs_by_me', await handoffsBy(tx.db, tx.workspace, developerId, limit + 1)).map(show.handoff);
      }
      if (sections.has('announcements')) {
        listed.announcements = first('announcements', await announcementsSince(tx.db, tx.workspace, tx.now - RECENT_MS, limit + 1)).map(show.announcement);
      }
      const [first_ask] = listed.asks_to_me ?? [];
      const call = `covibe_coordination with operation "reply", ask_id "${first_ask?.ask_id}" and a message`;
      return ok(listed, first_ask ? `${listed.asks_to_me?.length} ask(s) need your answer. Call ${call}.` : 'Listed.');
    },
  }),
  implement(board, {
    read: async (_input, ctx) => {
      const now = ctx.clock.now();
      const { reader: db, workspace } = ctx;
      const show = await viewsFor(db, ctx.principal, now);
      return ok({
        claims: (await liveClaimRows(db, workspace, now)).map(show.claim),
        asks: (await recentAsks(db, workspace, now, ON_BOARD)).map(show.ask),
        handoffs: (await findRows(db, 'handoffs', { workspace_id: workspace }, { order: { id: 'desc' }, limit: ON_BOARD })).map(show.handoff),
        announcements: (await announcementsSince(db, workspace, now - RECENT_MS, ON_BOARD)).map(show.announcement),
      });
    },
  }),
  implement(listClaims, {
    read: async ({ mine = false, repository, before, limit = 100 }, { reader, workspace, principal, clock }) => {
      const developerId = mine ? callingDeveloper(principal) : undefined;
      const now = clock.now();
      const { rows, total } = await pageOfClaims(reader, workspace, now, { developerId, repository, before, limit: limit + 1 });
      const show = await claimsFor(reader, principal, now);
      return ok({ items: rows.slice(0, limit).map(show), more: rows.length > limit, total });
    },
  }),
  implement(showClaim, {
    read: async ({ claim_id }, { reader, workspace, principal, clock }) => {
      const show = await claimsFor(reader, principal, clock.now());
      return ok({ claim: show(await claimNamed(reader, workspace, claim_id)) });
    },
  }),
];

async function claimsFor(db: Db, viewer: Principal, now: number): Promise<(row: ClaimRow) => ShownClaim> {
  const show = await viewsFor(db, viewer, now);
  return (row) => {
    const isOver = row.expires_at <= now || row.expired_at !== null;
    const state = row.released_at !== null ? 'released' : isOver ? 'expired' : 'live';
    return {
      ...show.claim(row),
      agent_id: show.agent(row.actor, row.developer_id).agent_id,
      state,
      ended_at: row.released_at ?? (isOver ? row.expires_at : null),
      may_release: state === 'live' && mayRelease(row, viewer),
    };
  };
}

async function markRead(tx: Tx, ctx: WriteContext, rows: readonly AskRow[]): Promise<AskRow[]> {
  const read: AskRow[] = [];
  for (const row of rows) {
    if (row.read_at === null) {
      const receipts = { delivered_at: row.delivered_at ?? tx.now, read_at: tx.now };
      await changeRows(tx.db, 'asks', { workspace_id: tx.workspace, id: row.id }, receipts);
      record(tx, ctx, { category: 'work', kind: 'ask.read', subject: row.id, payload: { ask_id: row.id } });
      read.push({ ...row, ...receipts });
    } else read.push(row);
  }
  return read;
}

/** Marks answers as delivered only if the agent that asked reads them, because another agent of the same developer would not pass them on. */
async function markAnswersDelivered(tx: Tx, ctx: WriteContext, rows: readonly AskRow[]): Promise<AskRow[]> {
  const fresh = rows.filter((row) => row.answered_at !== null && row.answer_delivered_at === null && row.from_actor === ctx.principal.actor);
  const delivered = new Set<string>();
  for (const { id } of await answersFor(tx.db, tx.workspace, fresh, ctx.session, tx.now)) {
    await changeRows(tx.db, 'asks', { workspace_id: tx.workspace, id: id }, { answer_delivered_at: tx.now });
    record(tx, ctx, { category: 'work', kind: 'ask.answer_delivered', subject: id, payload: { ask_id: id } });
    delivered.add(id);
  }
  return rows.map((row) => (delivered.has(row.id) ? { ...row, answer_delivered_at: tx.now } : row));
}
