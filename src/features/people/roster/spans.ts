import { AGENT_SILENT } from '../../workflow/agents/index.ts';
import type { WorkSpanEnd } from './contract.ts';
import { type Happening, textOf } from './happenings.ts';

type SpanKind = 'task' | 'step' | 'instance';

/** A span of time in which an actor held a piece of work. */
export interface WorkSpan {
  readonly kind: SpanKind;
  readonly id: string;
  /** The holder of the work, as the journal records it: an actor, or for a workflow step the id of a registered agent. */
  readonly holder: { readonly actor: string } | { readonly agentId: string };
  /** Null if the journal does not contain the title. The name of a workflow step is in its row instead. */
  readonly title: string | null;
  readonly from: number;
  /** The end of the span. Null: the work is still held. */
  readonly to: number | null;
  readonly end: WorkSpanEnd;
  /** Why the work was lost or released. */
  readonly reason: string | null;
}

/** Computes the spans of held work from events in journal order. Work that began before the first event appears only when it ends. */
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

const STEP_ENDS: Readonly<Record<string, WorkSpanEnd>> = { completed: 'done', skipped: 'done', failed: 'failed' };

/**
 * Returns how an instance ended. If nobody stopped it and it delivered nothing, its process has died. A review agent ends
 * normally after its verdict.
 */
function instanceEnd({ payload }: Happening, wasStopped: boolean): [WorkSpanEnd, string | null] {
  const status = textOf(payload, 'status');
  if (status === 'abandoned') return ['failed', null];
  if (status !== 'terminated' || textOf(payload, 'type') === 'review') return ['done', null];
  return wasStopped ? ['released', 'stopped'] : ['lost', 'its process ended'];
}
