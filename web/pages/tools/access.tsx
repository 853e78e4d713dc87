import { useNavigate } from '@tanstack/react-router';
import type { ForeseenAccess, Grant } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import type { Tone } from '../../parts/layout.tsx';
import { counted, dateOf } from '../../parts/values.tsx';

export const ANSWER_TONES: Record<ForeseenAccess['answer'], Tone> = { open: 'good', yes: 'good', asks: 'you', limited: 'wait', no: 'quiet' };
export const ANSWER_MEANINGS: readonly (readonly [ForeseenAccess['answer'], string])[] = [
  ['open', 'needs no grant'],
  ['yes', 'a grant allows it'],
  ['asks', 'a person approves each call'],
  ['limited', 'with certain arguments only'],
  ['no', 'no grant allows it'],
];

type Bounds = Pick<Grant, 'scope' | 'uses'>;

/** How many calls a grant still allows; null without a limit. */
export const usesLeft = ({ scope: { max_uses }, uses }: Bounds): number | null => (max_uses === undefined ? null : Math.max(0, max_uses - uses));

const joined = (...words: readonly (string | false | undefined)[]): string => words.filter(Boolean).join(', ');

const conditions = ({ approve, arguments: bound, max_per_minute }: Grant['scope']): string =>
  joined(
    approve && (approve === 'client' ? 'asks each time, also in the client' : 'asks a person each time'),
    bound && 'certain arguments only',
    max_per_minute !== undefined && `${counted(max_per_minute, 'call')} a minute`,
  );

/** The bounds of a grant in words. */
export function scopeWords(grant: Bounds): string {
  const { max_uses, expires_at } = grant.scope;
  const left = usesLeft(grant);
  const ends = joined(left !== null && `${left} of ${counted(max_uses ?? 0, 'use')} left`, expires_at !== undefined && `until ${dateOf(expires_at)}`);
  return joined(conditions(grant.scope), ends) || 'standing';
}

/** The kind of bound only, for a list that shows uses and end in other columns. */
export function scopeKind({ scope }: Bounds): string {
  return conditions(scope) || (scope.max_uses !== undefined ? 'so many calls' : scope.expires_at !== undefined ? 'for a time' : 'standing');
}

/** Opens the grant dialog; disabled, with the reason, for people who may not grant. */
export function GrantLink({ action, who }: { action?: string; who?: string }) {
  const navigate = useNavigate();
  return (
    <ActButton
      needs="operator"
      onClick={() => void navigate({ to: '/tools/grants', search: { grant: 'new', ...(action && { action }), ...(who && { who }) } })}
    >
      Grant…
    </ActButton>
  );
}
