import { z } from 'zod';
import type { Principal } from '../../kernel/context.ts';
import { readJson } from '../../storage/columns.ts';
import type { Db } from '../../storage/engine.ts';
import { firstSeqSince } from '../../storage/journal.ts';
import { namesFor } from '../identity/index.ts';
import { recentNotes } from '../notes/index.ts';
import { recentSessions } from '../sessions/index.ts';
import { tasksBy, viewTasks } from '../tasks/index.ts';
import { usageSince } from '../telemetry/index.ts';
import type { SummaryData } from './contract.ts';
import { markdownOf } from './markdown.ts';
import { briefTask } from './state.ts';

const DAY_MS = 24 * 3_600_000;
const MOST = 200;

/** The events that the summary tells of, each with what it is told as. */
const OVERLAP_KINDS = { 'scope.judged': 'judged', 'warning.confirmed': 'confirmed', 'warning.dismissed': 'dismissed' } as const;

const payload = z.looseObject({
  automatic: z.boolean().optional(),
  title: z.string().optional(),
  result_summary: z.string().optional(),
  duplicate: z.boolean().optional(),
  matches: z.array(z.unknown()).optional(),
  compared: z.int().optional(),
  conflict_count: z.int().optional(),
  warning_id: z.string().nullish(),
});

/** What happened in the last `days`, out of the journal, and what is going on now. */
export async function summarise(db: Db, workspace: string, viewer: Principal, now: number, days: number): Promise<SummaryData> {
  const from = now - days * DAY_MS;
  const recorded = await workEventsSince(db, workspace, from);
  const name = await namesFor(db, workspace, viewer);
  const owner = (actor: string) => name(/(?:@|:)(dev_[0-9A-Z]+)$/.exec(actor)?.[1] ?? '');
  const show = await viewTasks(db, workspace, viewer);
  const notes = await recentNotes(db, workspace, viewer, from, MOST);
  const tasks = async (statuses: ('planned' | 'active' | 'blocked')[]) =>
    (await tasksBy(db, workspace, { statuses, limit: MOST })).map((row) => briefTask(show(row)));
  const sessions = await recentSessions(db, workspace, viewer, now, MOST);
  const data = {
    from,
    to: now,
    completed: recorded
      // A container that ends with its last task says nothing that the task has not said.
      .filter(({ kind, details }) => (kind === 'task.completed' || kind === 'workstream.completed') && !details.automatic)
      .map(({ subject, actor, details, time }) => ({
        id: subject,
        title: details.title ?? subject,
        owner: owner(actor),
        result_summary: details.result_summary ?? null,
        time,
      }))
      .slice(-MOST),
    planned: await tasks(['planned']),
    active: await tasks(['active', 'blocked']),
    blockers: notes.filter(({ kind }) => kind === 'blocker'),
    decisions: notes.filter(({ kind }) => kind === 'decision'),
    overlap_warnings: recorded
      .flatMap(({ kind, subject, actor, details, time }) => {
        const outcome = kind in OVERLAP_KINDS ? OVERLAP_KINDS[kind as keyof typeof OVERLAP_KINDS] : warned(kind, details);
        if (!outcome) return [];
        const judged = outcome === 'judged' ? (details.duplicate ? 'judged a duplicate' : 'judged distinct') : outcome;
        return [{ id: details.warning_id ?? subject, kind, owner: owner(actor), title: details.title ?? null, outcome: judged, time }];
      })
      .slice(-MOST),
    parallel_audits: recorded
      .filter(({ kind }) => kind === 'parallel_work.audit')
      .map(({ subject, actor, details, time }) => ({
        id: subject,
        owner: owner(actor),
        compared: details.compared ?? 0,
        conflicts: details.conflict_count ?? 0,
        time,
      })),
    agent_sessions: sessions.filter(({ last_seen_at }) => last_seen_at >= from),
    usage: (await usageSince(db, workspace, from, viewer)).totals,
    events: countByKind(recorded),
  };
  return { ...data, markdown: markdownOf(data) };
}

function warned(kind: string, details: z.output<typeof payload>): string | null {
  const isCheck = kind === 'task.checked' || kind === 'workstream.checked';
  return isCheck && details.warning_id ? 'warned' : null;
}

interface Recorded {
  kind: string;
  actor: string;
  subject: string;
  details: z.output<typeof payload>;
  time: number;
}

async function workEventsSince(db: Db, workspace: string, since: number): Promise<Recorded[]> {
  const rows = await db
    .selectFrom('events')
    .select(['kind', 'actor', 'subject', 'payload', 'time'])
    .where('workspace_id', '=', workspace)
    .where('category', '=', 'work')
    .where('seq', '>=', await firstSeqSince(db, workspace, since))
    .orderBy('seq')
    .execute();
  return rows.map((row) => {
    const details = payload.safeParse(readJson(z.unknown(), row.payload));
    return { kind: row.kind, actor: row.actor, subject: row.subject ?? '', details: details.success ? details.data : {}, time: row.time };
  });
}

function countByKind(recorded: readonly Recorded[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of recorded) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
