import { useDeferredValue } from 'react';
import { SelectField, TextField } from '../../parts/field.tsx';
import { workerOf } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';

const SUBJECT_KINDS = [
  ['developer', 'Developer'],
  ['token', 'Token'],
  ['instance', 'Instance'],
  ['operator', 'Operator'],
] as const;
type SubjectKind = (typeof SUBJECT_KINDS)[number][0];

/** The subject of a grant, with the name that people use for it. */
export interface GrantSubject {
  readonly kind: SubjectKind;
  /** The name of the subject. Empty for the operator. */
  readonly name: string;
}

export const subjectText = ({ kind, name }: GrantSubject): string => (kind === 'operator' ? kind : `${kind}:${name}`);

/** Parses the subject in the page's address. Returns undefined if there is none. */
export function subjectFrom(text: string | undefined): GrantSubject | undefined {
  if (text === 'operator') return { kind: 'operator', name: '' };
  const [, kind, name] = /^(developer|token|instance):(.+)$/su.exec(text ?? '') ?? [];
  return kind && name ? { kind: kind as SubjectKind, name } : undefined;
}

/** Converts a subject to fields, which are used as the input of an action and as command options. For the operator, the result is empty. */
export const namedSubject = ({ kind, name }: GrantSubject): { developer?: string; token?: string; instance?: string } =>
  kind === 'operator' ? {} : { [kind]: name.trim() };

export const isNamed = ({ kind, name }: GrantSubject): boolean => kind === 'operator' || name.trim() !== '';

const HINTS: Record<Exclude<SubjectKind, 'operator'>, string> = { developer: 'Name', token: 'Token id', instance: 'Instance id' };
const MAX_ITEMS = 200;

/** The two fields that choose a subject: the kind, and the name with suggestions. */
export function SubjectFields({ subject, onChange, first = false }: { subject: GrantSubject; onChange: (subject: GrantSubject) => void; first?: boolean }) {
  const names = useSubjectNames(subject.kind);
  return (
    <div className="grid grid-cols-[8rem_minmax(0,1fr)] gap-2">
      <SelectField label="Subject" first={first} value={subject.kind} choices={SUBJECT_KINDS} onChange={(kind) => onChange({ kind, name: '' })} />
      {subject.kind !== 'operator' && (
        <TextField label={HINTS[subject.kind]} required max={100} choices={names} value={subject.name} onChange={(name) => onChange({ ...subject, name })} />
      )}
    </div>
  );
}

function useSubjectNames(kind: SubjectKind): (string | readonly [string, string])[] {
  const developers = useRead('developers.list', {}, { enabled: kind === 'developer' }).data?.items ?? [];
  const tokens = useRead('tokens.list', {}, { enabled: kind === 'token' }).data?.items ?? [];
  const instances = useRead('instances.list', { limit: MAX_ITEMS }, { enabled: kind === 'instance' }).data?.items ?? [];
  // Private developers are left out, because their names are hidden.
  if (kind === 'developer') return developers.flatMap(({ name }) => (name.startsWith('@') ? [] : [name])).slice(0, MAX_ITEMS);
  if (kind === 'instance') return instances.map(({ id, branch }) => [id, branch]);
  const callers = tokens.filter((token) => token.status === 'live' && token.kind !== 'web' && token.kind !== 'operator');
  return callers
    .slice(0, MAX_ITEMS)
    .map(({ token_id, developer, agent, label }) => [token_id, `${developer === null ? '' : `${workerOf(developer, agent)}, `}${label}`]);
}

const MAX_TOOLS = 20;

/** Asks the server for tool names that match what the person is typing. */
export function useToolNames(typed: string): string[] {
  const text = useDeferredValue(typed.replace(/^tool\.call\./, '').trim());
  const { data } = useRead('tools.page', { limit: MAX_TOOLS, ...(text && { text: text.slice(0, 200) }) });
  return data?.items.map(({ name }) => name) ?? [];
}
