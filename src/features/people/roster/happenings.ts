import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { beginning } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import { firstSeqSince, readHead } from '../../../storage/journal.ts';
import type { WorkSpanEnd } from './contract.ts';

/** How far back it goes: over a weekend. */
export const KEPT_MS = 3 * 24 * 3_600_000;
const MAX_KEPT = 20_000;
const PAGE = 5_000;
/** Of a field: what is told of it is short, and twenty thousand long ones would fill the memory. */
const KEPT_LENGTH = 300;
const MAX_WORKSPACES = 20;

/** What tells who held what, and what came of it. */
const KINDS = [
  'task.started',
  'task.completed',
  'task.cancelled',
  'task.handed_over',
  'workflow.task_claimed',
  'workflow.task_released',
  'workflow.task_status_changed',
  'workflow.task_removed',
  'workflow.status_changed',
  'instance.started',
  'instance.stopped',
  'instance.ended',
  'instance.failed',
  'claim.expired',
  'pull.created',
  'pull.failed',
  'cycle.completed',
  'cycle.cancelled',
  'decision.recorded',
  'blocker.recorded',
  'scope.judged',
  'question.answered',
  'approval.approved',
  'approval.refused',
  'upstream.approved',
] as const;
export type HappeningKind = (typeof KINDS)[number];

export interface Happening {
  readonly seq: number;
  readonly time: number;
  readonly kind: HappeningKind;
  readonly actor: string;
  readonly subject: string;
  readonly payload: Readonly<Record<string, string>>;
}

interface WorkspaceHappenings {
  seq: number;
  events: Happening[];
  /** Readers take turns. */
  busy: Promise<void>;
}

/** The few kinds of events that the last days are told from. Each is read once, however often somebody asks. */
export class Happenings {
  readonly #workspaces = new Map<string, WorkspaceHappenings>();

  /** In their order. */
  async read(db: Db, workspace: string, now: number): Promise<readonly Happening[]> {
    const kept = this.#workspaces.get(workspace) ?? { seq: 0, events: [], busy: Promise.resolve() };
    this.#workspaces.delete(workspace);
    this.#workspaces.set(workspace, kept);
    for (const oldest of [...this.#workspaces.keys()].slice(0, -MAX_WORKSPACES)) this.#workspaces.delete(oldest);
    const turn = kept.busy.then(() => readOn(db, workspace, kept, now));
    kept.busy = turn.catch(() => {});
    await turn;
    return kept.events;
  }
}

async function readOn(db: Db, workspace: string, kept: WorkspaceHappenings, now: number): Promise<void> {
  const head = (await readHead(db, workspace))?.seq ?? 0;
  const since = now - KEPT_MS;
  let seq = kept.seq > 0 ? kept.seq : Math.max(0, (await firstSeqSince(db, workspace, since)) - 1);
  const came: Happening[] = [];
  while (seq < head) {
    const end = Math.min(head, seq + PAGE);
    const rows = await db
      .selectFrom('events')
      .select(['seq', 'time', 'kind', 'actor', 'subject', 'payload'])
      .where('workspace_id', '=', workspace)
      .where('seq', '>', seq)
      .where('seq', '<=', end)
      .where('kind', 'in', KINDS)
      .where('category', 'in', ['work', 'audit'])
      .orderBy('seq')
      .execute();
    for (const row of rows) {
      if (row.subject !== null) came.push({ ...row, kind: row.kind as HappeningKind, subject: row.subject, payload: readPayload(row.payload) });
    }
    seq = end;
    // The first read of busy days is long: others are served between its pages.
    await yieldToEventLoop();
  }
  // Not before: what came of a reading that failed half way would be told by nobody.
  kept.seq = seq;
  if (came.length === 0 && (kept.events[0]?.time ?? now) >= since) return;
  // A new list: whoever reads the old one reads on undisturbed.
  kept.events = [...kept.events, ...came].filter(({ time }) => time >= since).slice(-MAX_KEPT);
}

/** Its fields that are texts, as far as anybody reads them. */
function readPayload(text: string): Record<string, string> {
  try {
    const fields = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return Object.fromEntries(fields.flatMap(([name, value]) => (typeof value === 'string' ? [[name, beginning(value, KEPT_LENGTH)]] : [])));
  } catch {
    return {};
  }
}

/** A field of the payload, where it is what it should be. */
export const textOf = (payload: Happening['payload'], field: string): string | null => payload[field] ?? null;

type SpanKind = 'task' | 'step' | 'instance';

/** A time in which somebody held a piece of work. */
export interface WorkSpan {
  readonly kind: SpanKind;
  readonly id: string;
  /** As the journal names them: who acts, or for a step its registered agent. */
  readonly holder: { readonly actor: string } | { readonly agentId: string };
  /** As far as the journal tells; a step's name stands in its row. */
  readonly title: string | null;
  readonly from: number;
  /** Null: still held. */
  readonly to: number | null;
  readonly end: WorkSpanEnd;
  /** Why it was lost or given back. */
  readonly reason: string | null;
}

/** What was held, from the events in their order. What began before the first of them is not in it until it ends. */
export function spansIn(events: readonly Happening[], since: number): WorkSpan[] {
  const open = new Map<string, WorkSpan>();
  const stopped = new Set<string>();
  const over: WorkSpan[] = [];
  const begin = (event: Happening, kind: SpanKind, holder: WorkSpan['holder'], title: string | null): void => {
    open.set(event.subject, { kind, id: event.subject, holder, title, from: event.time, to: null, end: 'held', reason: null });
  };
  const finish = (event: Happening, kind: SpanKind, end: WorkSpanEnd, reason: string | null = null, holder?: WorkSpan['holder']): void => {
    const begun = open.get(event.subject);
    open.delete(event.subject);
    const whose = begun?.holder ?? holder;
    if (!whose) return;
    const title = begun?.title ?? textOf(event.payload, 'title');
    over.push({ kind, id: event.subject, holder: whose, title, from: begun?.from ?? since, to: event.time, end, reason });
  };
  for (const event of events) {
    const { kind, actor, subject, payload } = event;
    const agentId = textOf(payload, 'agent_id');
    const agent = agentId === null ? undefined : { agentId };
    if (kind === 'task.started') begin(event, 'task', { actor }, textOf(payload, 'title'));
    else if (kind === 'task.completed') finish(event, 'task', 'done', null, { actor });
    else if (kind === 'task.cancelled') finish(event, 'task', 'released', textOf(payload, 'reason'));
    else if (kind === 'task.handed_over') {
      finish(event, 'task', 'released', 'handed over');
      begin(event, 'task', { actor }, textOf(payload, 'title'));
    } else if (kind === 'workflow.task_claimed' && agent) begin(event, 'step', agent, null);
    else if (kind === 'workflow.task_released') {
      const reason = textOf(payload, 'reason');
      finish(event, 'step', reason === AGENT_SILENT ? 'lost' : 'released', reason, agent);
    } else if (kind === 'workflow.task_status_changed') {
      const end = STEP_ENDS[textOf(payload, 'to') ?? ''];
      if (end) finish(event, 'step', end, null, agent);
    } else if (kind === 'workflow.task_removed') finish(event, 'step', 'released', 'removed from the plan');
    else if (kind === 'instance.started') begin(event, 'instance', { actor: `instance:${subject}` }, textOf(payload, 'branch'));
    else if (kind === 'instance.stopped') stopped.add(subject);
    else if (kind === 'instance.ended') {
      const [end, reason] = instanceEnd(event, stopped.has(subject));
      finish(event, 'instance', end, reason, { actor: `instance:${subject}` });
    }
  }
  return [...over, ...open.values()].filter(({ to }) => to === null || to >= since);
}

/** As `agents` words it when a lease has run out. */
const AGENT_SILENT = 'agent silent';
const STEP_ENDS: Readonly<Record<string, WorkSpanEnd>> = { completed: 'done', skipped: 'done', failed: 'failed' };

/** That nobody stopped it and it delivered nothing means that its process was gone. A reviewer ends with its word. */
function instanceEnd({ payload }: Happening, wasStopped: boolean): [WorkSpanEnd, string | null] {
  const status = textOf(payload, 'status');
  if (status === 'abandoned') return ['failed', null];
  if (status !== 'terminated' || textOf(payload, 'type') === 'review') return ['done', null];
  return wasStopped ? ['released', 'stopped'] : ['lost', 'its process was gone'];
}
