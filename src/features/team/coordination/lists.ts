import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, countRows, findRows } from '../../../storage/rows.ts';
import type { AnnouncementRow, AskRow, ClaimRow, HandoffRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper } from '../../core/identity/index.ts';
import { mayRelease } from './claims.ts';
import { board, LIST_SECTIONS, list, listClaims, type ShownClaim, showClaim, summary } from './contract.ts';
import { isOverdue, isUndelivered, type Presenter, viewsFor } from './present.ts';
import {
  announcementsSince,
  asksBy,
  asksTo,
  claimNamed,
  countAnnouncements,
  countOpenAsks,
  handoffsBy,
  handoffsTo,
  liveClaimRows,
  openAsks,
  openHandoffs,
  pageOfClaims,
  recentAsks,
} from './store.ts';
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
      /** One row more was asked for than is shown, so that it is known whether there are more. */
      const first = <T>(name: string, rows: readonly T[]): T[] => {
        if (rows.length > limit) listed.cut.push(name);
        return rows.slice(0, limit);
      };
      if (sections.has('claims')) {
        // Own ones first: those are to be renewed and released.
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
      const unanswered = listed.asks_to_me?.length ?? 0;
      return ok(listed, unanswered > 0 ? `${unanswered} ask(s) wait for your answer: covibe_coordination reply.` : 'Listed.');
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

/** Only to the agent that asked: another of the same developer's would not pass it on. */
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

const DAY_MS = 86_400_000;
const FEW = 5;

export const summaryTools: Implementation[] = [
  implement(summary, {
    read: async (_input, ctx) => {
      const { reader: db, workspace } = ctx;
      const now = ctx.clock.now();
      const show = await viewsFor(db, ctx.principal, now);
      const claims = await liveClaimRows(db, workspace, now);
      const asks = await openAsks(db, workspace, now, FEW);
      const offers = await openHandoffs(db, workspace, FEW);
      const announcements = await announcementsSince(db, workspace, now - DAY_MS, FEW);
      const data = {
        claims: { live: claims.length, by_developer: claimsByDeveloper(claims, show) },
        asks: await countOpenAsks(db, workspace, now),
        handoffs: { open: await countRows(db, 'handoffs', { workspace_id: workspace, status: 'offered' }) },
        announcements: { last_24_hours: await countAnnouncements(db, workspace, now - DAY_MS) },
      };
      const heads = [
        `- ${data.claims.live} live claim(s)`,
        `- ${data.asks.waiting} ask(s) waiting, ${data.asks.overdue} overdue, ${data.asks.undelivered} undelivered`,
        `- ${data.handoffs.open} open handoff(s)`,
        `- ${data.announcements.last_24_hours} announcement(s) in 24 hours`,
      ];
      const sections = [
        section('Claims', claims, claims.length, (claim) => claimLine(claim, show)),
        section('Waiting asks', asks, data.asks.waiting, (ask) => askLine(ask, show, now)),
        section('Open handoffs', offers, data.handoffs.open, (offer) => handoffLine(offer, show)),
        section('Announcements', announcements, data.announcements.last_24_hours, (announcement) => announcementLine(announcement, show)),
      ];
      return ok({ ...data, markdown: [['## Coordination', ...heads].join('\n'), ...sections.filter((text) => text !== '')].join('\n\n') });
    },
  }),
];

function claimsByDeveloper(claims: readonly ClaimRow[], show: Presenter) {
  // By name: private developers cannot be told apart.
  const groups = Map.groupBy(claims, (claim) => show.name(claim.developer_id));
  return [...groups].map(([developer, own]) => ({
    developer,
    exclusive: own.filter(({ mode }) => mode === 'exclusive').length,
    shared: own.filter(({ mode }) => mode === 'shared').length,
  }));
}

/** The first of `all` rows, a line each. */
function section<T>(title: string, rows: readonly T[], all: number, line: (row: T) => string): string {
  if (rows.length === 0) return '';
  const more = all > FEW ? [`- and ${all - FEW} more`] : [];
  return [`### ${title}`, ...rows.slice(0, FEW).map((row) => `- ${line(row)}`), ...more].join('\n');
}

/** One line, whatever was written. */
const short = (text: string): string => excerpt(text.replace(/\s+/g, ' '), 160);

function claimLine(row: ClaimRow, show: Presenter): string {
  const { developer, mode, repo, paths, symbols, expires_at } = show.claim(row);
  return `${developer}, ${mode}: ${short([...paths, ...symbols].join(', '))} in ${short(repo)}, until ${new Date(expires_at).toISOString()}`;
}

function askLine(row: AskRow, show: Presenter, now: number): string {
  const state = [isOverdue(row, now) ? 'overdue' : '', isUndelivered(row) ? 'undelivered' : ''].filter(Boolean).join(', ');
  return `${show.name(row.from_developer_id)} → ${show.name(row.to_developer_id)}${state ? ` (${state})` : ''}: ${short(row.message)}`;
}

const handoffLine = (row: HandoffRow, show: Presenter): string =>
  `${show.name(row.from_developer_id)} → ${show.name(row.to_developer_id)}: ${short(row.message)}`;

const announcementLine = (row: AnnouncementRow, show: Presenter): string => `${show.name(row.developer_id)}: ${short(row.message)}`;
