import { beginning } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import { JournalFold } from '../../core/events/index.ts';

/** The period that the views cover. It is long enough for a weekend. */
export const KEPT_MS = 3 * 24 * 3_600_000;
const MAX_KEPT = 20_000;
/**
 * The maximum length of a text field in memory. Views show only the beginning of a text, and twenty thousand long texts would
 * need too much memory.
 */
const KEPT_LENGTH = 300;

/** The kinds of events that show which agent held which work, how that ended, and what people decided. */
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

/** The events of the last days that the dashboard needs to show work and news. */
export class Happenings {
  readonly #workspaces = new JournalFold({
    keepMs: KEPT_MS,
    pageSize: 5_000,
    begin: (): { events: readonly Happening[] } => ({ events: [] }),
    read: (page) =>
      page.select(['seq', 'time', 'kind', 'actor', 'subject', 'payload']).where('kind', 'in', KINDS).where('category', 'in', ['work', 'audit']).execute(),
    add(state, page) {
      const added = page.flatMap(({ subject, kind, payload, ...event }) =>
        subject === null ? [] : [{ ...event, subject, kind: kind as HappeningKind, payload: readPayload(payload) }],
      );
      // The events are copied to a new list, so that code that still reads the old list is not affected.
      if (added.length > 0) state.events = [...state.events, ...added].slice(-MAX_KEPT);
    },
    forgetBefore(state, since) {
      if ((state.events[0]?.time ?? since) < since) state.events = state.events.filter(({ time }) => time >= since);
    },
  });

  /** Returns the events in journal order. */
  async read(db: Db, workspace: string, now: number): Promise<readonly Happening[]> {
    return (await this.#workspaces.read(db, workspace, now)).events;
  }
}

/** Returns the text fields of the payload, shortened to the length that views show. */
function readPayload(text: string): Record<string, string> {
  try {
    const fields = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return Object.fromEntries(fields.flatMap(([name, value]) => (typeof value === 'string' ? [[name, beginning(value, KEPT_LENGTH)]] : [])));
  } catch {
    return {};
  }
}

/** Returns a text field of the payload, or null if it is missing. */
export const textOf = (payload: Happening['payload'], field: string): string | null => payload[field] ?? null;
