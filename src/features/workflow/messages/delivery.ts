/** Computes the delivery state of messages of all kinds. The functions are pure: they use neither the clock nor the store. */

export const KINDS = ['ask', 'question', 'message', 'handoff', 'announcement'] as const;
export type ThreadKind = (typeof KINDS)[number];

export const STEPS = ['sent', 'delivered', 'read', 'answered'] as const;

/** `partly` means that the step is done for some of the recipients, `unknown` that it is not recorded, and `none` that it is not expected. */
export const STEP_STATES = ['done', 'partly', 'open', 'unknown', 'none'] as const;

interface ThreadStep {
  readonly step: (typeof STEPS)[number];
  readonly state: (typeof STEP_STATES)[number];
  /** Time at which the step was done for the last recipient; null if it is not done. */
  readonly at: number | null;
  /** Number of recipients for which the step is done. */
  readonly count: number | null;
}

export const STATUSES = ['undelivered', 'overdue', 'waiting', 'sent', 'delivered', 'read', 'answered', 'offered', 'accepted', 'announced', 'expired'] as const;
type ThreadStatus = (typeof STATUSES)[number];

/** The stored facts from which the delivery state of a thread is computed. */
export interface DeliveryState {
  readonly kind: ThreadKind;
  readonly sent_at: number;
  readonly recipients: number;
  readonly delivered: number;
  readonly delivered_at: number | null;
  readonly read: number;
  readonly read_at: number | null;
  /** For a handoff, the time at which it was accepted. */
  readonly answered_at: number | null;
  readonly wants_answer: boolean;
  readonly due_at: number | null;
  /** After this time no recipient gets the message. */
  readonly expires_at: number | null;
  /** Number of answers and other replies that have not reached their recipient. */
  readonly unseen_replies: number;
}

/** Agents poll about every 30 seconds. A message that was sent more recently than this is therefore not yet shown as undelivered. */
const ON_ITS_WAY_MS = 120_000;

const isOver = ({ answered_at, expires_at }: DeliveryState, now: number): boolean => answered_at !== null || (expires_at !== null && expires_at <= now);

export const isUnanswered = (delivery: DeliveryState, now: number): boolean => delivery.wants_answer && !isOver(delivery, now);

const isLate = (delivery: DeliveryState, now: number): boolean => isUnanswered(delivery, now) && delivery.due_at !== null && now > delivery.due_at;

/**
 * Returns whether the message or an answer to it has not arrived yet. The server cannot tell whether people have seen a question, so a question counts
 * as not arrived until it is answered.
 */
const isUnseen = (delivery: DeliveryState, now: number): boolean => {
  if (delivery.unseen_replies > 0) return true;
  if (isOver(delivery, now)) return false;
  if (delivery.kind === 'question') return true;
  return (delivery.kind === 'ask' || delivery.kind === 'message') && delivery.delivered < delivery.recipients;
};

export function statusOf(delivery: DeliveryState, now: number): ThreadStatus {
  if (delivery.kind === 'announcement') return 'announced';
  if (delivery.kind === 'handoff') return delivery.answered_at === null ? 'offered' : 'accepted';
  if (delivery.answered_at !== null) return 'answered';
  if (isOver(delivery, now)) return 'expired';
  if (isLate(delivery, now)) return 'overdue';
  if (delivery.kind === 'question') return 'waiting';
  if (delivery.delivered < delivery.recipients) return now - delivery.sent_at > ON_ITS_WAY_MS ? 'undelivered' : 'sent';
  if (delivery.wants_answer) return 'waiting';
  return delivery.read === delivery.recipients ? 'read' : 'delivered';
}

/** Undelivered messages that are older than this are no longer listed among the pressing threads. */
export const PRESSING_MS = 7 * 86_400_000;

/** Returns the rank by which threads are sorted: undelivered threads first, then overdue threads, then the rest. */
export function rankOf(delivery: DeliveryState, now: number): 0 | 1 | 2 {
  if (isUnseen(delivery, now)) return 0;
  return isLate(delivery, now) ? 1 : 2;
}

export const STATES = ['undelivered', 'overdue', 'unanswered'] as const;
type ThreadState = (typeof STATES)[number];

export function hasState(state: ThreadState | undefined, delivery: DeliveryState, now: number): boolean {
  if (state === 'undelivered') return isUnseen(delivery, now);
  if (state === 'overdue') return isLate(delivery, now);
  return state === undefined || isUnanswered(delivery, now);
}

export function stepsOf(delivery: DeliveryState): ThreadStep[] {
  const { kind, sent_at, recipients, delivered, delivered_at, read, read_at, answered_at, wants_answer } = delivery;
  const noted = kind === 'ask' || kind === 'message' || (kind === 'question' && answered_at !== null);
  const receipt = (step: ThreadStep['step'], count: number, at: number | null): ThreadStep => {
    if (!noted) return { step, state: 'unknown', at: null, count: null };
    return { step, state: count === 0 ? 'open' : count < recipients ? 'partly' : 'done', at, count };
  };
  const answer = answered_at !== null ? 'done' : wants_answer || kind === 'handoff' ? 'open' : 'none';
  return [
    { step: 'sent', state: 'done', at: sent_at, count: null },
    receipt('delivered', delivered, delivered_at),
    receipt('read', read, read_at),
    { step: 'answered', state: answer, at: answered_at, count: null },
  ];
}

/** Minimum time between two reminders, because reminders help only if they are rare. */
const REMIND_EVERY_MS = 15 * 60_000;

/** Returns the earliest time at which the next reminder can be sent. */
export const remindableFrom = (sentAt: number, lastReminded: number | null): number =>
  lastReminded === null ? sentAt + ON_ITS_WAY_MS : lastReminded + REMIND_EVERY_MS;
