import { excerpt } from '../../../kernel/excerpt.ts';
import { ok } from '../../../kernel/reply.ts';
import { implement } from '../../../kernel/tool.ts';
import { countRows } from '../../../storage/rows.ts';
import type { AnnouncementRow, AskRow, ClaimRow, HandoffRow } from '../../../storage/schema-rows.ts';
import { summary } from './contract.ts';
import { isOverdue, isUndelivered, type Presenter, viewsFor } from './present.ts';
import { announcementsSince, countAnnouncements, countOpenAsks, liveClaimRows, openAsks, openHandoffs } from './store.ts';

const DAY_MS = 86_400_000;
const FEW = 5;

export const summaryTool = implement(summary, {
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
});

function claimsByDeveloper(claims: readonly ClaimRow[], show: Presenter) {
  // Claims are grouped by the name of the developer, because all private developers share one name.
  const groups = Map.groupBy(claims, (claim) => show.name(claim.developer_id));
  return [...groups].map(([developer, own]) => ({
    developer,
    exclusive: own.filter(({ mode }) => mode === 'exclusive').length,
    shared: own.filter(({ mode }) => mode === 'shared').length,
  }));
}

/** A section of the summary: one line for each of the first rows, and a last line with the number of rows that were left out. */
function section<T>(title: string, rows: readonly T[], all: number, line: (row: T) => string): string {
  if (rows.length === 0) return '';
  const more = all > FEW ? [`- and ${all - FEW} more`] : [];
  return [`### ${title}`, ...rows.slice(0, FEW).map((row) => `- ${line(row)}`), ...more].join('\n');
}

/** Puts the text on one line and shortens it. */
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
