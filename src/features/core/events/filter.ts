import type { JournalEvent } from '../../../storage/journal.ts';
import type { EventFilter } from './contract.ts';

/** Whose events: one actor, or everything that a developer and their agents did. */
export type Whose = { readonly actor: string } | { readonly developer: string };

/** A filter whose words have been understood. */
export interface Sought extends Omit<EventFilter, 'actor'> {
  readonly whose?: Whose | undefined;
}

/** How it ended, where the event says so: a call by its outcome, a check by whether it passed. */
function outcomeOf({ outcome, passed }: Record<string, unknown>): string | undefined {
  if (typeof passed === 'boolean') return passed ? 'passed' : 'denied';
  return typeof outcome === 'string' ? outcome : undefined;
}

/** Asked of an event as the viewer sees it: what is hidden from them cannot be found by them either. */
export function fits(event: JournalEvent, { category, kind, whose, subject, outcome, session, text }: Sought): boolean {
  return (
    (category === undefined || event.category === category) &&
    (kind === undefined || event.kind.toLowerCase().startsWith(kind.toLowerCase())) &&
    (whose === undefined || isWhose(event.actor, whose)) &&
    (subject === undefined || event.subject === subject) &&
    (outcome === undefined || outcomeOf(event.payload) === outcome) &&
    (session === undefined || event.session === session) &&
    (text === undefined || has(event, text))
  );
}

const isWhose = (actor: string, whose: Whose): boolean =>
  'actor' in whose ? actor === whose.actor : actor === `developer:${whose.developer}` || (actor.startsWith('agent:') && actor.endsWith(`@${whose.developer}`));

const has = ({ kind, subject, session, payload }: JournalEvent, text: string): boolean =>
  [kind, subject ?? '', session ?? ''].some((each) => each.toLowerCase().includes(text.toLowerCase())) ||
  JSON.stringify(payload).toLowerCase().includes(asInJson(text).toLowerCase());

/** As it stands between the quotes of a JSON string. */
export const asInJson = (text: string): string => JSON.stringify(text).slice(1, -1);
