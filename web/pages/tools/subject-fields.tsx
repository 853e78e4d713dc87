import { useId } from 'react';
import { Field } from '../../parts/field.tsx';
import { workerOf } from '../../parts/said.tsx';
import { useRead } from '../../queries.ts';
import { SUBJECT_KINDS, type Subject, type SubjectKind } from './subject.ts';

const HINTS: Record<Exclude<SubjectKind, 'operator'>, string> = { developer: 'Name', token: 'Token id', instance: 'Instance id' };
const MOST = 200;

/** Who is meant: the kind, and which one, with those that are known to choose from. */
export function SubjectFields({ subject, onChange, first = false }: { subject: Subject; onChange: (subject: Subject) => void; first?: boolean }) {
  const list = useId();
  return (
    <div className="grid grid-cols-[8rem_minmax(0,1fr)] gap-2">
      <Field label="Who">
        {(id) => (
          <select
            id={id}
            className="field"
            data-first={first || undefined}
            value={subject.kind}
            onChange={({ target }) => onChange({ kind: target.value as SubjectKind, name: '' })}
          >
            {SUBJECT_KINDS.map(([kind, name]) => (
              <option key={kind} value={kind}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {subject.kind !== 'operator' && (
        <Field label={HINTS[subject.kind]}>
          {(id) => (
            <input
              id={id}
              className="field"
              list={list}
              required
              maxLength={100}
              autoComplete="off"
              spellCheck={false}
              value={subject.name}
              onChange={({ target }) => onChange({ ...subject, name: target.value })}
            />
          )}
        </Field>
      )}
      <datalist id={list}>
        <Known kind={subject.kind} />
      </datalist>
    </div>
  );
}

function Known({ kind }: { kind: SubjectKind }) {
  const developers = useRead('developers.list', {}, { enabled: kind === 'developer' }).data?.items ?? [];
  const tokens = useRead('tokens.list', {}, { enabled: kind === 'token' }).data?.items ?? [];
  const instances = useRead('instances.list', { limit: MOST }, { enabled: kind === 'instance' }).data?.items ?? [];
  if (kind === 'developer') {
    // Who is private is not among the names that anybody could choose.
    const names = developers.map(({ name }) => name).filter((name) => !name.startsWith('@'));
    return names.slice(0, MOST).map((name) => <option key={name} value={name} />);
  }
  if (kind === 'token') {
    const callers = tokens.filter(({ status, kind: of }) => status === 'live' && of !== 'web' && of !== 'operator');
    return callers.slice(0, MOST).map(({ token_id, developer, agent, label }) => (
      <option key={token_id} value={token_id}>
        {`${developer === null ? '' : `${workerOf(developer, agent)}, `}${label}`}
      </option>
    ));
  }
  return kind === 'instance' ? instances.map(({ id, branch }) => <option key={id} value={id} label={branch} />) : null;
}
