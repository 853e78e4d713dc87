import { beginning } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import { JournalFold } from '../../core/events/index.ts';

/** How far back the views go: long enough for a weekend. */
export const KEPT_MS = 3 * 24 * 3_600_000;
const MAX_KEPT = 20_000;
/** The stored length of a text field. Views show little of it, and twenty thousand long texts would fill the memory. */
const KEPT_LENGTH = 300;

/** Events that show who held what, and how it ended. */
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

/** The few kinds of events from which the last days are shown. */
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
      // A new list, so that readers of the old one are not affected.
      if (added.length > 0) state.events = [...state.events, ...added].slice(-MAX_KEPT);
    },
    forgetBefore(state, since) {
      if ((state.events[0]?.time ?? since) < since) state.events = state.events.filter(({ time }) => time >= since);
    },
  });

  /** In journal order. */
  async read(db: Db, workspace: string, now: number): Promise<readonly Happening[]> {
    return (await this.#workspaces.read(db, workspace, now)).events;
  }
}

/** The text fields of the payload, cut to the length that views show. */
function readPayload(text: string): Record<string, string> {
  try {
    const fields = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return Object.fromEntries(fields.flatMap(([name, value]) => (typeof value === 'string' ? [[name, beginning(value, KEPT_LENGTH)]] : [])));
  } catch {
    return {};
  }
}

/** A text field of the payload, or null. */
export const textOf = (payload: Happening['payload'], field: string): string | null => payload[field] ?? null;
