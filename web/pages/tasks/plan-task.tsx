import { type ReactNode, type SubmitEvent, useState } from 'react';
import type { Arguments, Result } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useAct } from '../../queries.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { ConfirmPlan } from './confirm-plan.tsx';
import { PlanFields } from './plan-fields.tsx';
import type { Planned } from './planned-notice.tsx';
import type { TaskType } from './type.ts';

export type PlanAnswer = Result<'tasks.plan'> | Result<'workstreams.plan'>;

export interface Draft {
  what: 'task' | 'workstream';
  title: string;
  type: TaskType;
  /** Of a task its scope, of a workstream its description. */
  words: string;
  repository: string;
  /** One path a line. */
  files: string;
}

interface PlanTaskProps {
  onClose: () => void;
  onPlanned: (planned: Planned) => void;
}

/** The same check as agents get: what looks like somebody's work already is shown before anything is stored. */
export function PlanTask({ onClose, onPlanned }: PlanTaskProps) {
  const repository = useRepository();
  const [draft, setDraft] = useState<Draft>({ what: 'task', title: '', type: 'feature', words: '', repository: repository ?? '', files: '' });
  const [found, setFound] = useState<PlanAnswer>();
  const planTask = useAct('tasks.plan');
  const planWorkstream = useAct('workstreams.plan');
  const plan = draft.what === 'task' ? planTask : planWorkstream;
  const answered = (answer: PlanAnswer): void => {
    const { requires_confirm, matches, warning_id, workstream_id } = answer.data;
    if (requires_confirm) {
      setFound(answer);
      return;
    }
    const workstream = draft.what === 'workstream' ? workstream_id : null;
    onPlanned({ title: draft.title.trim(), workstream, alike: matches.length, warning: warning_id });
  };
  const send = (reason?: string): void => {
    const confirmed = reason === undefined ? {} : { confirm: true, confirmation_reason: reason };
    if (draft.what === 'task') planTask.mutate({ ...taskOf(draft), ...confirmed }, { onSuccess: answered });
    else planWorkstream.mutate({ ...workstreamOf(draft), ...confirmed }, { onSuccess: answered });
  };
  const problem = plan.error && <Problem what="Nothing was planned." error={plan.error} />;
  return (
    <Dialog title={found ? 'Is somebody already doing this?' : 'Plan work'} wide onClose={onClose}>
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
          onConfirm={send}
        />
      ) : (
        <PlanForm draft={draft} onChange={setDraft} problem={problem} pending={plan.isPending} onClose={onClose} onSubmit={() => send()} />
      )}
    </Dialog>
  );
}

interface PlanFormProps {
  draft: Draft;
  onChange: (draft: Draft) => void;
  problem: ReactNode;
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
      <div className="grid gap-3 sm:grid-cols-[9rem_minmax(0,1fr)]">
        <Field label="What">
          {(id) => (
            <select
              id={id}
              className="field"
              value={draft.what}
              onChange={({ target }) => onChange({ ...draft, what: target.value === 'workstream' ? 'workstream' : 'task' })}
            >
              <option value="task">Task</option>
              <option value="workstream">Workstream</option>
            </select>
          )}
        </Field>
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
      </div>
      <PlanFields draft={draft} onChange={onChange} />
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

function taskOf({ title, type, words, repository, files }: Draft): Arguments<'tasks.plan'> {
  const paths = pathsOf(files);
  return {
    title: title.trim(),
    task_type: type,
    ...(words.trim() && { scope: words.trim() }),
    ...(repository.trim() && { repo: repository.trim() }),
    ...(paths.length > 0 && { target_files: paths }),
  };
}

const workstreamOf = ({ title, words }: Draft): Arguments<'workstreams.plan'> => ({
  title: title.trim(),
  ...(words.trim() && { description: words.trim() }),
});

const pathsOf = (files: string): string[] => [...new Set(files.split('\n').map((line) => line.trim()))].filter(Boolean);
