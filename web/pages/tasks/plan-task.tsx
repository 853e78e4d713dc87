import { type SubmitEvent, useState } from 'react';
import type { Arguments, Result } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useAct } from '../../queries.ts';
import { ConfirmPlan } from './confirm-plan.tsx';
import { TASK_TYPES, type TaskType, taskTypeOf } from './type.ts';

type Answer = Result<'tasks.plan'>;

interface PlanTaskProps {
  onClose: () => void;
  onPlanned: (title: string, answer: Answer) => void;
}

export interface Draft {
  title: string;
  type: TaskType;
  scope: string;
  /** One path a line. */
  files: string;
}

/** The same check as agents get: what looks like somebody's work already is shown before anything is stored. */
export function PlanTask({ onClose, onPlanned }: PlanTaskProps) {
  const plan = useAct('tasks.plan');
  const [draft, setDraft] = useState<Draft>({ title: '', type: 'feature', scope: '', files: '' });
  const [found, setFound] = useState<Answer>();
  const send = (confirm: boolean): void =>
    plan.mutate(
      { ...argumentsOf(draft), ...(confirm && { confirm }) },
      { onSuccess: (answer) => (answer.data.requires_confirm ? setFound(answer) : onPlanned(draft.title.trim(), answer)) },
    );
  const problem = plan.error && <Problem what="Nothing was planned." error={plan.error} />;
  return (
    <Dialog title={found ? 'Is somebody already doing this?' : 'Plan a task'} wide onClose={onClose}>
      {found ? (
        <ConfirmPlan
          draft={draft}
          answer={found}
          problem={problem}
          pending={plan.isPending}
          onBack={() => {
            plan.reset();
            setFound(undefined);
          }}
          onConfirm={() => send(true)}
        />
      ) : (
        <PlanForm draft={draft} onChange={setDraft} problem={problem} pending={plan.isPending} onClose={onClose} onSubmit={() => send(false)} />
      )}
    </Dialog>
  );
}

interface PlanFormProps {
  draft: Draft;
  onChange: (draft: Draft) => void;
  problem: React.ReactNode;
  pending: boolean;
  onClose: () => void;
  onSubmit: () => void;
}

function PlanForm({ draft, onChange, problem, pending, onClose, onSubmit }: PlanFormProps) {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form onSubmit={submit} className="mt-3 grid gap-3">
      <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_9rem]">
        <Field label="Title">
          {(id) => (
            <input
              id={id}
              className="field"
              data-first
              required
              maxLength={300}
              autoComplete="off"
              value={draft.title}
              onChange={({ target }) => onChange({ ...draft, title: target.value })}
            />
          )}
        </Field>
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
      </div>
      <Field label="Scope" hint="optional: what this work really is, in a sentence; it is compared with the work of others">
        {(id) => (
          <textarea
            id={id}
            className="field py-1.5"
            rows={3}
            maxLength={1_000}
            value={draft.scope}
            onChange={({ target }) => onChange({ ...draft, scope: target.value })}
          />
        )}
      </Field>
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
      {problem}
      <div className="flex justify-end gap-2">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <ActButton type="submit" look="primary" pending={pending} disabled={!draft.title.trim()}>
          Plan
        </ActButton>
      </div>
    </form>
  );
}

function argumentsOf({ title, type, scope, files }: Draft): Arguments<'tasks.plan'> {
  const paths = pathsOf(files);
  return { title: title.trim(), task_type: type, ...(scope.trim() && { scope: scope.trim() }), ...(paths.length > 0 && { target_files: paths }) };
}

const pathsOf = (files: string): string[] => [...new Set(files.split('\n').map((line) => line.trim()))].filter(Boolean);
