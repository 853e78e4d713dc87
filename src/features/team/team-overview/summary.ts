import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { z } from 'zod';
import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import { firstSeqSince, readHead } from '../../../storage/journal.ts';
import { readJson } from '../../../storage/rows.ts';
import type { EventRow } from '../../../storage/schema-rows.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { recentNotes } from '../notes/index.ts';
import { titlesOfWarnings } from '../overlap/index.ts';
import { recentSessions } from '../sessions/index.ts';
import { tasksBy, viewTask } from '../tasks/index.ts';
import { usageSince } from '../usage/index.ts';
import type { SummaryData } from './contract.ts';
import { briefTask } from './state.ts';

const DAY_MS = 24 * 3_600_000;
const MAX_ITEMS = 200;

const COMPLETIONS: ReadonlySet<string> = new Set(['task.completed', 'workstream.completed']);
const CHECKS: ReadonlySet<string> = new Set(['task.checked', 'workstream.checked']);
const AUDIT = 'parallel_work.audit';
/** The summary lists events of these kinds. It only counts events of other kinds. */
const LISTED_KINDS: ReadonlySet<string> = new Set([...COMPLETIONS, ...CHECKS, AUDIT, 'scope.judged', 'warning.confirmed', 'warning.dismissed']);

const payload = z.looseObject({
  automatic: z.boolean().optional(),
  title: z.string().optional(),
  result_summary: z.string().optional(),
  duplicate: z.boolean().optional(),
  compared: z.int().optional(),
  conflict_count: z.int().optional(),
  warning_id: z.string().nullish(),
});

/** Summarises the events of the last `days` days, which it reads from the journal, and the current work. */
export async function summarise(db: Db, workspace: string, principal: Principal, now: number, days: number): Promise<SummaryData> {
  const from = now - days * DAY_MS;
  const viewer = await viewerOf(db, principal);
  const notes = await recentNotes(db, workspace, viewer, from, MAX_ITEMS);
  const tasks = async (statuses: ('planned' | 'active' | 'blocked')[]) =>
    (await tasksBy(db, workspace, { statuses, limit: MAX_ITEMS })).map((row) => briefTask(viewTask(row, viewer)));
  const sessions = await recentSessions(db, workspace, viewer, now, MAX_ITEMS);
  const recorded = await recordedSince(db, workspace, from, (actor) => viewer.name(/(?:@|:)(dev_[0-9A-Z]+)$/.exec(actor)?.[1] ?? ''));
  const untitled = recorded.overlap_warnings.flatMap(({ id, title }) => (title === null ? [id] : []));
  const titles = await titlesOfWarnings(db, workspace, [...new Set(untitled)]);
  const data = {
    from,
    to: now,
    ...recorded,
    // The event of a verdict contains only the id of the judged warning, so its title is added here.
    overlap_warnings: recorded.overlap_warnings.map((warning) => ({ ...warning, title: warning.title ?? titles.get(warning.id) ?? null })),
    planned: await tasks(['planned']),
    active: await tasks(['active', 'blocked']),
    blockers: notes.filter(({ kind }) => kind === 'blocker'),
    decisions: notes.filter(({ kind }) => kind === 'decision'),
    agent_sessions: sessions.filter(({ last_seen_at }) => last_seen_at >= from),
    usage: (await usageSince(db, workspace, from, viewer)).totals,
  };
  return { ...data, markdown: markdownOf(data) };
}

type Recorded = Pick<SummaryData, 'completed' | 'overlap_warnings' | 'parallel_audits' | 'events'>;

/** The events are read in pages of this size, so that other calls can run in between. */
const PAGE = 1_000;

/** Reads the journal. Returns the last entries of each list of the summary, and the number of events of each kind. */
async function recordedSince(db: Db, workspace: string, since: number, owner: (actor: string) => string): Promise<Recorded> {
  const completed: Recorded['completed'] = [];
  const warnings: Recorded['overlap_warnings'] = [];
  const audits: Recorded['parallel_audits'] = [];
  const events: Recorded['events'] = {};
  const last = (await readHead(db, workspace))?.seq ?? 0;
  for (let after = (await firstSeqSince(db, workspace, since)) - 1; after < last; ) {
    const rows = await db
      .selectFrom('events')
      .select(['seq', 'kind', 'actor', 'subject', 'payload', 'time'])
      .where('workspace_id', '=', workspace)
      .where('category', '=', 'work')
      .where('seq', '>', after)
      .where('seq', '<=', last)
      .orderBy('seq')
      .limit(PAGE)
      .execute();
    for (const row of rows) tally(row);
    after = rows.length < PAGE ? last : (rows.at(-1)?.seq ?? last);
    await yieldToEventLoop();
  }
  return { completed, overlap_warnings: warnings, parallel_audits: audits, events };

  function tally({ kind, actor, subject, payload: text, time }: Pick<EventRow, 'kind' | 'actor' | 'subject' | 'payload' | 'time'>): void {
    events[kind] = (events[kind] ?? 0) + 1;
    if (!LISTED_KINDS.has(kind)) return;
    const parsed = payload.safeParse(readJson(z.unknown(), text));
    const details = parsed.success ? parsed.data : {};
    const id = subject ?? '';
    if (COMPLETIONS.has(kind)) {
      // The server completes a container together with its last task. The completion of that task is already in the list.
      if (details.automatic) return;
      pushBounded(completed, { id, title: details.title ?? id, owner: owner(actor), result_summary: details.result_summary ?? null, time });
      return;
    }
    if (kind === AUDIT) {
      pushBounded(audits, { id, owner: owner(actor), compared: details.compared ?? 0, conflicts: details.conflict_count ?? 0, time });
      return;
    }
    const outcome = outcomeOf(kind, details);
    if (outcome) pushBounded(warnings, { id: details.warning_id ?? id, kind, owner: owner(actor), title: details.title ?? null, outcome, time });
  }
}

/** Adds an entry to a list and keeps only the last `MAX_ITEMS` entries. */
function pushBounded<T>(list: T[], one: T): void {
  list.push(one);
  if (list.length > MAX_ITEMS) list.shift();
}

function outcomeOf(kind: string, details: z.output<typeof payload>): string | null {
  if (CHECKS.has(kind)) return details.warning_id ? 'warned' : null;
  if (kind === 'scope.judged') return details.duplicate ? 'judged a duplicate' : 'judged distinct';
  return kind === 'warning.confirmed' ? 'confirmed' : 'dismissed';
}

/** Escapes text that agents have written, so that it cannot become markup. */
const escapeMarkdown = (text: string): string => text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#|~]/g, (mark) => `\\${mark}`);

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

const MAX_LINES = 50;

function section(title: string, lines: readonly string[]): string {
  const more = lines.length > MAX_LINES ? [`- … and ${lines.length - MAX_LINES} more`] : [];
  const shown = lines.slice(0, MAX_LINES).map((line) => `- ${line}`);
  return `## ${title} (${lines.length})\n\n${lines.length === 0 ? 'None.' : [...shown, ...more].join('\n')}\n`;
}

/** Writes the summary as Markdown, for people to read and pass on. */
function markdownOf(data: Omit<SummaryData, 'markdown'>): string {
  const work = ({ title, owner, status }: SummaryData['active'][number]) =>
    `${escapeMarkdown(title)} (${escapeMarkdown(owner)}${status === 'blocked' ? ', blocked' : ''})`;
  const note = ({ title, developer, body }: SummaryData['blockers'][number]) =>
    `${escapeMarkdown(title)} (${escapeMarkdown(developer)})${body ? `: ${escapeMarkdown(body.slice(0, 300))}` : ''}`;
  return [
    `# Week of ${day(data.from)} to ${day(data.to)}\n`,
    section(
      'Completed',
      data.completed.map(
        ({ title, owner, result_summary }) =>
          `${escapeMarkdown(title)} (${escapeMarkdown(owner)})${result_summary ? `: ${escapeMarkdown(result_summary.slice(0, 300))}` : ''}`,
      ),
    ),
    section('Active', data.active.map(work)),
    section('Planned', data.planned.map(work)),
    section('Blockers', data.blockers.map(note)),
    section('Decisions', data.decisions.map(note)),
    section(
      'Overlap warnings',
      data.overlap_warnings.map(({ title, id, owner, outcome }) => `${escapeMarkdown(title ?? id)} (${escapeMarkdown(owner)}): ${outcome}`),
    ),
    section(
      'Parallel audits',
      data.parallel_audits.map(
        ({ owner, compared, conflicts, time }) => `${day(time)}, by ${escapeMarkdown(owner)}: ${compared} compared, ${conflicts} in conflict`,
      ),
    ),
    section(
      'Agent sessions',
      data.agent_sessions.map(
        ({ developer, agent_type, agent_name, state, started_at }) =>
          `${escapeMarkdown(agent_name ?? agent_type ?? 'agent')} of ${escapeMarkdown(developer)}, ${day(started_at)}: ${state}`,
      ),
    ),
    `## Usage\n\n${usageLine(data.usage)}\n`,
  ].join('\n');
}

/** Describes tokens and cost in one sentence. A cost without a known price is reported as unknown and not counted as zero. */
function usageLine({ spans, total_tokens, cost_usd, unpriced }: SummaryData['usage']): string {
  if (spans === 0) return 'None reported.';
  const cost = cost_usd === null ? 'cost unknown' : `${cost_usd.toFixed(2)} USD${unpriced > 0 ? ` and ${unpriced} reports without a known price` : ''}`;
  return `${total_tokens.toLocaleString('en')} tokens in ${spans} reports, ${cost}.`;
}
