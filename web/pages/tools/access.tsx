import { useNavigate } from '@tanstack/react-router';
import type { ForeseenAccess, Grant } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import type { Tone } from '../../parts/layout.tsx';
import { counted, Until } from '../../parts/values.tsx';

export const ANSWER_TONES: Record<ForeseenAccess['answer'], Tone> = { open: 'good', yes: 'good', asks: 'you', limited: 'wait', no: 'quiet' };
export const ANSWER_MEANINGS: readonly (readonly [ForeseenAccess['answer'], string])[] = [
  ['open', 'needs no grant'],
  ['yes', 'a grant allows it'],
  ['asks', 'a person approves each call'],
  ['limited', 'only with certain arguments'],
  ['no', 'no grant allows it'],
];

type Bounds = Pick<Grant, 'scope' | 'uses'>;

/** Returns how many calls a grant still allows, or null if it has no limit. */
export const usesLeft = ({ scope: { max_uses }, uses }: Bounds): number | null => (max_uses === undefined ? null : Math.max(0, max_uses - uses));

const joined = (...words: readonly (string | false | undefined)[]): string => words.filter(Boolean).join(', ');

const conditions = ({ approve, arguments: bound, max_per_minute }: Grant['scope']): string =>
  joined(
    approve && (approve === 'client' ? "approval per call, which the caller's client may give too" : 'approval per call'),
    bound && 'certain arguments only',
    max_per_minute !== undefined && `${counted(max_per_minute, 'call')} per minute`,
  );

export function ScopeOf({ grant }: { grant: Bounds }) {
  const { max_uses, expires_at } = grant.scope;
  const left = usesLeft(grant);
  const words = joined(conditions(grant.scope), left !== null && `${left} of ${counted(max_uses ?? 0, 'use')} left`);
  if (expires_at === undefined) return words || 'standing';
  return (
    <>
      {words && `${words}, `}expires <Until at={expires_at} />
    </>
  );
}

/** Describes the bounds of a grant in short, for a list in which other columns show the uses and the expiry. */
export function scopeKind({ scope }: Bounds): string {
  return conditions(scope) || (scope.max_uses !== undefined ? 'limited uses' : scope.expires_at !== undefined ? 'limited time' : 'standing');
}

/** A link that opens the grant dialog. For people who may not grant, it is disabled and shows why. */
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
