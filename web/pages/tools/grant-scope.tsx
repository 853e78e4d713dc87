import { useNavigate } from '@tanstack/react-router';
import type { Grant } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { counted } from '../../parts/count.ts';
import { dateOf } from '../../parts/time.tsx';

type Bounds = Pick<Grant, 'scope' | 'uses'>;

/** How many calls it still allows, where it counts them. */
export const usesLeft = ({ scope: { max_uses }, uses }: Bounds): number | null => (max_uses === undefined ? null : Math.max(0, max_uses - uses));

const told = (...words: readonly (string | false | undefined)[]): string => words.filter(Boolean).join(', ');

const conditions = ({ approve, arguments: bound, max_per_minute }: Grant['scope']): string =>
  told(
    approve && (approve === 'client' ? 'asks each time, also in the client' : 'asks a person each time'),
    bound && 'certain arguments only',
    max_per_minute !== undefined && `${counted(max_per_minute, 'call')} a minute`,
  );

/** How far the grant goes, in words. */
export function scopeWords(grant: Bounds): string {
  const { max_uses, expires_at } = grant.scope;
  const left = usesLeft(grant);
  const ends = told(left !== null && `${left} of ${counted(max_uses ?? 0, 'use')} left`, expires_at !== undefined && `until ${dateOf(expires_at)}`);
  return told(conditions(grant.scope), ends) || 'standing';
}

/** The same for who sees elsewhere how many uses are left, and until when. */
export function scopeKind({ scope }: Bounds): string {
  return conditions(scope) || (scope.max_uses !== undefined ? 'so many calls' : scope.expires_at !== undefined ? 'for a time' : 'standing');
}

/** The choices for a new grant, narrowest first. */
export const SPANS = [
  { span: 'ask', label: 'Ask each time', meaning: 'Each call waits until a person has approved it here or at the command line.', scope: { approve: true } },
  {
    span: 'client',
    label: 'Ask in the client too',
    meaning: 'The same, but whoever answers in the agent’s own client can approve it.',
    scope: { approve: 'client' },
  },
  { span: 'once', label: 'Once', meaning: 'One call; then the grant is used up.', scope: { max_uses: 1 } },
  { span: 'hour', label: 'An hour', meaning: 'Any number of calls in the next 60 minutes.', minutes: 60 },
  { span: 'standing', label: 'Standing', meaning: 'Any number of calls until it is revoked.' },
] as const satisfies readonly { span: string; label: string; meaning: string; scope?: Grant['scope']; minutes?: number }[];
export type GrantSpan = (typeof SPANS)[number];

/** Opens the dialog that grants it; whoever may not grant sees why not. */
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
