import type { Arguments } from '../../api.ts';

type Wanted = Arguments<'messages.threads'>;
export type Kind = NonNullable<Wanted['kind']>;
export type Waiting = NonNullable<Wanted['state']>;

/** All of them: the compiler sees to it. */
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

/** What the address of the list holds: nothing chosen means everything. */
export interface MessageSearch {
  kind?: Kind;
  state?: Waiting;
  mine?: true;
  /** The message, ask, handoff or announcement whose thread is open. */
  message?: string;
  broadcast?: true;
}

const one = <T extends string>(choices: readonly (readonly [T, string])[], given: unknown): T | undefined => choices.find(([choice]) => choice === given)?.[0];

export function messageSearch({ kind, state, mine, message, broadcast }: Record<string, unknown>): MessageSearch {
  const [ofKind, inState] = [one(KINDS, kind), one(STATES, state)];
  return {
    ...(ofKind && { kind: ofKind }),
    ...(inState && { state: inState }),
    ...(mine === true && { mine }),
    ...(typeof message === 'string' && message !== '' && { message }),
    ...(broadcast === true && { broadcast }),
  };
}
