import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue } from 'react';
import type { ForeseenAccess, Grant } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import type { Tone } from '../../parts/layout.tsx';
import { counted, dateOf, workerOf } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';

export const ANSWER_TONES: Record<ForeseenAccess['answer'], Tone> = { open: 'good', yes: 'good', asks: 'you', limited: 'wait', no: 'quiet' };
export const ANSWER_MEANINGS: readonly (readonly [ForeseenAccess['answer'], string])[] = [
  ['open', 'needs no grant'],
  ['yes', 'a grant allows it'],
  ['asks', 'a person approves each call'],
  ['limited', 'with certain arguments only'],
  ['no', 'no grant allows it'],
];

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

const SUBJECT_KINDS = [
  ['developer', 'Developer'],
  ['token', 'Token'],
  ['instance', 'Instance'],
  ['operator', 'Operator'],
] as const;
type SubjectKind = (typeof SUBJECT_KINDS)[number][0];

/** Who can hold a grant, as people name them. */
export interface GrantSubject {
  readonly kind: SubjectKind;
  /** Empty for the operator. */
  readonly name: string;
}

export const subjectText = ({ kind, name }: GrantSubject): string => (kind === 'operator' ? kind : `${kind}:${name}`);

/** From an address: undefined where it names nobody. */
export function subjectFrom(text: string | undefined): GrantSubject | undefined {
  if (text === 'operator') return { kind: 'operator', name: '' };
  const [, kind, name] = /^(developer|token|instance):(.+)$/su.exec(text ?? '') ?? [];
  return kind && name ? { kind: kind as SubjectKind, name } : undefined;
}

/** As the input of an action, and as options of the command: the operator is meant where none is named. */
export const namedSubject = ({ kind, name }: GrantSubject): { developer?: string; token?: string; instance?: string } =>
  kind === 'operator' ? {} : { [kind]: name.trim() };

export const isNamed = ({ kind, name }: GrantSubject): boolean => kind === 'operator' || name.trim() !== '';

const HINTS: Record<Exclude<SubjectKind, 'operator'>, string> = { developer: 'Name', token: 'Token id', instance: 'Instance id' };
const MAX_ITEMS = 200;

/** Who is meant: the kind, and which one, with those that are known to choose from. */
export function SubjectFields({ subject, onChange, first = false }: { subject: GrantSubject; onChange: (subject: GrantSubject) => void; first?: boolean }) {
  const known = useKnown(subject.kind);
  return (
    <div className="grid grid-cols-[8rem_minmax(0,1fr)] gap-2">
      <SelectField label="Who" first={first} value={subject.kind} choices={SUBJECT_KINDS} onChange={(kind) => onChange({ kind, name: '' })} />
      {subject.kind !== 'operator' && (
        <TextField label={HINTS[subject.kind]} required most={100} choices={known} value={subject.name} onChange={(name) => onChange({ ...subject, name })} />
      )}
    </div>
  );
}

function useKnown(kind: SubjectKind): (string | readonly [string, string])[] {
  const developers = useRead('developers.list', {}, { enabled: kind === 'developer' }).data?.items ?? [];
  const tokens = useRead('tokens.list', {}, { enabled: kind === 'token' }).data?.items ?? [];
  const instances = useRead('instances.list', { limit: MAX_ITEMS }, { enabled: kind === 'instance' }).data?.items ?? [];
  // Who is private is not among the names that anybody could choose.
  if (kind === 'developer') return developers.flatMap(({ name }) => (name.startsWith('@') ? [] : [name])).slice(0, MAX_ITEMS);
  if (kind === 'instance') return instances.map(({ id, branch }) => [id, branch]);
  const callers = tokens.filter((token) => token.status === 'live' && token.kind !== 'web' && token.kind !== 'operator');
  return callers
    .slice(0, MAX_ITEMS)
    .map(({ token_id, developer, agent, label }) => [token_id, `${developer === null ? '' : `${workerOf(developer, agent)}, `}${label}`]);
}

const MAX_TOOLS = 20;

/** Names of tools to choose from while one is typed; the server looks for them. */
export function useToolNames(typed: string): string[] {
  const wanted = useDeferredValue(typed.replace(/^tool\.call\./, '').trim());
  const { data } = useRead('tools.page', { limit: MAX_TOOLS, ...(wanted && { text: wanted.slice(0, 200) }) });
  return data?.items.map(({ name }) => name) ?? [];
}
