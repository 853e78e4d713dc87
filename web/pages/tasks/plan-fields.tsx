import { useId } from 'react';
import { Field } from '../../parts/field.tsx';
import { useRead } from '../../queries.ts';
import type { Draft } from './plan-task.tsx';
import { TASK_TYPES, taskTypeOf } from './type.ts';

interface PlanFieldsProps {
  draft: Draft;
  onChange: (draft: Draft) => void;
}

/** What is said of the work besides its title. A workstream has words alone. */
export function PlanFields({ draft, onChange }: PlanFieldsProps) {
  const isTask = draft.what === 'task';
  return (
    <>
      <Field label={isTask ? 'Scope' : 'Description'} hint="optional: what this work really is, in a sentence; it is compared with the work of others">
        {(id) => (
          <textarea
            id={id}
            className="field py-1.5"
            rows={3}
            maxLength={1_000}
            value={draft.words}
            onChange={({ target }) => onChange({ ...draft, words: target.value })}
          />
        )}
      </Field>
      {isTask && <TaskFields draft={draft} onChange={onChange} />}
    </>
  );
}

function TaskFields({ draft, onChange }: PlanFieldsProps) {
  const known = useId();
  const repositories = useRead('repositories.list', {}).data?.items ?? [];
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-[9rem_minmax(0,1fr)]">
        <Field label="Type">
          {(id) => (
            <select id={id} className="field" value={draft.type} onChange={({ target }) => onChange({ ...draft, type: taskTypeOf(target.value) })}>
              {TASK_TYPES.map(([type, name]) => (
                <option key={type} value={type}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Repository" hint="optional: its name or address">
          {(id) => (
            <>
              <input
                id={id}
                className="field"
                list={known}
                maxLength={300}
                autoComplete="off"
                spellCheck={false}
                value={draft.repository}
                onChange={({ target }) => onChange({ ...draft, repository: target.value })}
              />
              <datalist id={known}>
                {repositories.map(({ name }) => (
                  <option key={name} value={name} />
                ))}
              </datalist>
            </>
          )}
        </Field>
      </div>
      <Field label="Files" hint="optional: one path a line, relative to the repository">
        {(id) => (
          <textarea
            id={id}
            className="field mono py-1.5"
            rows={3}
            spellCheck={false}
            value={draft.files}
            onChange={({ target }) => onChange({ ...draft, files: target.value })}
          />
        )}
      </Field>
    </>
  );
}
