import { AGENT_SILENT } from '../agents/index.ts';
import type { SPAN_ENDS } from './contract.ts';

type SpanEnd = (typeof SPAN_ENDS)[number];

/** The fields of a task event that show which agent held the task. */
export interface TaskHappening {
  readonly task_id: string;
  readonly kind: string;
  readonly time: number;
  readonly agent_id: string | null;
  readonly to: string | null;
  readonly reason: string | null;
}

export interface TaskSpan {
  readonly task_id: string;
  /** Null if somebody worked on the task without a claim. */
  readonly agent_id: string | null;
  readonly from: number;
  until: number | null;
  end: SpanEnd;
  /** Whether an earlier span of this task ended while the task was neither completed nor skipped. */
  readonly reclaimed: boolean;
  /** Periods in which the task was paused. */
  readonly waits: { from: number; until: number | null }[];
}

export const SPAN_KINDS = ['workflow.task_claimed', 'workflow.task_released', 'workflow.task_status_changed', 'workflow.task_replanned'] as const;

const ENDING: readonly string[] = ['completed', 'failed', 'skipped'];
const WORKING: readonly string[] = ['planning', 'in_progress'];

/** Returns the periods in which each task was held by an agent or worked on. `happenings` must be sorted, oldest first. */
export function spansOf(happenings: readonly TaskHappening[]): TaskSpan[] {
  const spans: TaskSpan[] = [];
  const open = new Map<string, TaskSpan>();
  const given = new Set<string>();
  const begin = ({ task_id, agent_id, time }: TaskHappening): void => {
    const span: TaskSpan = { task_id, agent_id, from: time, until: null, end: 'open', reclaimed: given.has(task_id), waits: [] };
    spans.push(span);
    open.set(task_id, span);
  };
  const close = ({ task_id, time }: TaskHappening, end: SpanEnd): void => {
    const span = open.get(task_id);
    if (!span) return;
    span.until = time;
    span.end = end;
    const wait = span.waits.at(-1);
    if (wait) wait.until ??= time;
    open.delete(task_id);
    if (end !== 'completed' && end !== 'skipped') given.add(task_id);
  };
  for (const happening of happenings) {
    if (happening.kind === 'workflow.task_claimed') {
      close(happening, 'released');
      begin(happening);
    } else if (happening.kind === 'workflow.task_released') {
      close(happening, happening.reason === AGENT_SILENT ? 'lost' : 'released');
    } else if (happening.kind === 'workflow.task_replanned') {
      close(happening, 'replanned');
    } else if (happening.to !== null && ENDING.includes(happening.to)) {
      close(happening, happening.to as SpanEnd);
    } else {
      trackPauses(happening, open.get(happening.task_id), begin);
    }
  }
  return spans;
}

function trackPauses(happening: TaskHappening, span: TaskSpan | undefined, begin: (happening: TaskHappening) => void): void {
  const works = happening.to !== null && WORKING.includes(happening.to);
  if (!span) {
    if (works) begin(happening);
    return;
  }
  const wait = span.waits.at(-1);
  if (happening.to === 'paused') span.waits.push({ from: happening.time, until: null });
  else if (works && wait) wait.until ??= happening.time;
}
