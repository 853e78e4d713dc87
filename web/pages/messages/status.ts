import type { ActionInput, Thread } from '../../api.ts';
import type { Tone } from '../../parts/layout.tsx';

type Kind = NonNullable<ActionInput<'messages.threads'>['kind']>;
type Waiting = NonNullable<ActionInput<'messages.threads'>['state']>;

const KIND_NAMES: Record<Kind, string> = {
  ask: 'Asks',
  question: 'Questions to people',
  message: 'Messages',
  handoff: 'Handoffs',
  announcement: 'Announcements',
};
const STATE_NAMES: Record<Waiting, string> = { undelivered: 'Not delivered', overdue: 'Overdue', unanswered: 'Unanswered' };
export const KINDS = Object.entries(KIND_NAMES) as [Kind, string][];
export const STATES = Object.entries(STATE_NAMES) as [Waiting, string][];

const TONES: Record<Thread['status'], Tone> = {
  undelivered: 'bad',
  overdue: 'bad',
  waiting: 'wait',
  sent: 'quiet',
  delivered: 'live',
  read: 'live',
  answered: 'good',
  offered: 'wait',
  accepted: 'good',
  announced: 'quiet',
  expired: 'quiet',
};

/** Returns the colour of a thread. A thread that waits for an answer by the viewer has a special one. */
export const toneOf = ({ status, answerable }: Pick<Thread, 'status' | 'answerable'>): Tone => (answerable && status === 'waiting' ? 'you' : TONES[status]);

const TYPES: Record<string, string> = { task_assignment: 'assignment', status_update: 'status', query: 'query', response: 'response', notification: 'notice' };

export const kindOf = ({ kind, type, recipients }: Pick<Thread, 'kind' | 'type' | 'recipients'>): string => {
  if (kind !== 'message') return kind;
  return recipients > 1 ? 'broadcast' : ((type && TYPES[type]) ?? 'message');
};

/** This text replaces messages that the viewer may not read. */
export const HIDDEN = 'Visible only to participants';
