import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ActionInput, ActionResult, Task } from '../../api.ts';
import { FormDialog } from '../../parts/actions.tsx';
import { SelectField, TextArea, TextField } from '../../parts/field.tsx';
import { Notice } from '../../parts/layout.tsx';
import { counted, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { Pair } from '../overlap/pair.tsx';

type PlanAnswer = ActionResult<'tasks.plan'> | ActionResult<'workstreams.plan'>;
type TaskType = Task['task_type'];

interface Draft {
  what: 'task' | 'workstream';
  title: string;
  type: TaskType;
  /** The scope of the task, or the description of the workstream. */
  words: string;
  repository: string;
  /** The paths of files, one on each line. */
  files: string;
}

interface PlanTaskProps {
  onClose: () => void;
  onPlanned: (planned: PlannedTeamTask) => void;
}

/** The dialog to plan a task or workstream. It runs the same overlap check as for agents, and shows similar work before anything is stored. */
export function PlanTask({ onClose, onPlanned }: PlanTaskProps) {
  const repository = useRepository();
  const [draft, setDraft] = useState<Draft>({ what: 'task', title: '', type: 'feature', words: '', repository: repository ?? '', files: '' });
  const [answerToConfirm, setAnswerToConfirm] = useState<PlanAnswer>();
  const planTask = useAct('tasks.plan');
  const planWorkstream = useAct('workstreams.plan');
  const plan = draft.what === 'task' ? planTask : planWorkstream;
  const answered = (answer: PlanAnswer): void => {
    const { requires_confirm, matches, warning_id, workstream_id } = answer.data;
    if (requires_confirm) {
      setAnswerToConfirm(answer);
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
  if (!answerToConfirm) {
    return (
      <FormDialog
        title="Plan work"
        wide
        submit="Plan"
        ready={draft.title.trim() !== ''}
        mutation={plan}
        failed="The work was not planned."
        onSubmit={() => send()}
        onClose={onClose}
      >
        <PlanFields draft={draft} onChange={(change) => setDraft({ ...draft, ...change })} />
      </FormDialog>
    );
  }
  return (
    <ConfirmPlan
      draft={draft}
      answer={answerToConfirm}
      plan={plan}
      onBack={() => {
        plan.reset();
        setAnswerToConfirm(undefined);
      }}
      onConfirm={send}
      onClose={onClose}
    />
  );
}

const KINDS = [
  ['task', 'Task'],
  ['workstream', 'Workstream'],
] as const;

const TYPES: Record<TaskType, string> = {
  feature: 'Feature',
  bug: 'Bug',
  refactor: 'Refactor',
  chore: 'Chore',
  docs: 'Docs',
  test: 'Test',
  spike: 'Spike',
};

/** The fields of the form. For a workstream, they are only a title and a description. */
function PlanFields({ draft, onChange }: { draft: Draft; onChange: (change: Partial<Draft>) => void }) {
  const repositories = useRead('repositories.list', {}).data?.items ?? [];
  const isTask = draft.what === 'task';
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-[9rem_minmax(0,1fr)]">
        <SelectField label="Kind" value={draft.what} choices={KINDS} onChange={(what) => onChange({ what })} />
        <TextField label="Title" first required max={300} value={draft.title} onChange={(title) => onChange({ title })} />
      </div>
      <TextArea
        label={isTask ? 'Scope' : 'Description'}
        hint="optional, one sentence; compared with the work of others"
        max={1_000}
        value={draft.words}
        onChange={(words) => onChange({ words })}
      />
      {isTask && (
        <>
          <div className="grid gap-3 sm:grid-cols-[9rem_minmax(0,1fr)]">
            <SelectField label="Type" value={draft.type} choices={Object.entries(TYPES) as [TaskType, string][]} onChange={(type) => onChange({ type })} />
            <TextField
              label="Repository"
              hint="optional: name or URL"
              max={300}
              choices={repositories.map(({ name }) => name)}
              value={draft.repository}
              onChange={(repository) => onChange({ repository })}
            />
          </div>
          <TextArea
            label="Files"
            hint="optional: one path per line, relative to the repository"
            mono
            value={draft.files}
            onChange={(files) => onChange({ files })}
          />
        </>
      )}
    </>
  );
}

function taskOf({ title, type, words, repository, files }: Draft): ActionInput<'tasks.plan'> {
  const paths = [...new Set(files.split('\n').map((line) => line.trim()))].filter(Boolean);
  return {
    title: title.trim(),
    task_type: type,
    ...(words.trim() && { scope: words.trim() }),
    ...(repository.trim() && { repo: repository.trim() }),
    ...(paths.length > 0 && { target_files: paths }),
  };
}

const workstreamOf = ({ title, words }: Draft): ActionInput<'workstreams.plan'> => ({
  title: title.trim(),
  ...(words.trim() && { description: words.trim() }),
});

interface ConfirmPlanProps {
  draft: Draft;
  answer: PlanAnswer;
  plan: { readonly isPending: boolean; readonly error: Error | null };
  onBack: () => void;
  onConfirm: (reason: string) => void;
  onClose: () => void;
}

/** Shows similar work before the plan is stored. To continue, the person must compare each candidate and give a reason. */
function ConfirmPlan({ draft, answer, plan, onBack, onConfirm, onClose }: ConfirmPlanProps) {
  const me = useRead('identity.me', {}).data;
  const settings = useRead('overlap.list', { limit: 1 }).data?.settings;
  const [reason, setReason] = useState('');
  const { candidates } = answer.data;
  return (
    <FormDialog
      title="Is somebody already doing this?"
      wide
      submit="Plan anyway"
      cancel="Back"
      ready={reason.trim() !== ''}
      mutation={plan}
      failed="The work was not planned."
      onSubmit={() => onConfirm(reason.trim())}
      onCancel={onBack}
      onClose={onClose}
    >
      {/* This element gets the focus first, so that the person reads the candidates before they write a reason. */}
      <div tabIndex={-1} data-first className="outline-none">
        <Notice tone="you" role="alert">
          {answer.message} Similar work: {counted(candidates.length, 'candidate')}. Nothing is planned yet.
        </Notice>
      </div>
      <ul className="grid gap-4">
        {candidates.map((candidate) => (
          <li key={candidate.id}>
            <Pair
              first={{ heading: 'Your plan', title: draft.title.trim(), scope: draft.words.trim(), owner: me?.developer ?? '' }}
              second={{ heading: 'Candidate', ...candidate }}
              files={candidate.file_overlap}
              score={candidate.score}
              settings={settings}
              reason={candidate.reason}
              apart
            />
          </li>
        ))}
      </ul>
      <TextArea label="Reason" hint="stored with the overlap for your team" value={reason} onChange={setReason} max={1_000} rows={2} required />
    </FormDialog>
  );
}

export interface PlannedTeamTask {
  readonly title: string;
  readonly workstream: string | null;
  readonly alike: number;
  readonly warning: string | null;
}

/** Confirms that the plan was stored, with a link to similar work. */
export function PlannedNotice({ planned: { title, workstream, alike, warning }, onDone }: { planned: PlannedTeamTask; onDone: () => void }) {
  return (
    <div className="mt-3">
      <Notice tone={alike > 0 ? 'wait' : 'good'} role="status">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <p className="min-w-0 flex-1">
            Planned “
            <UntrustedText text={title} />
            ”.{' '}
            {alike > 0 && warning && (
              <>
                Similar to {counted(alike, 'other work item')}.{' '}
                <Link to="/tasks/overlaps" search={{ warning }} className="underline underline-offset-2">
                  Compare
                </Link>{' '}
              </>
            )}
            {workstream && (
              <Link to="/tasks" search={{ workstream, status: 'all' }} className="underline underline-offset-2">
                Open workstream
              </Link>
            )}
          </p>
          <button type="button" className="button text-text" onClick={onDone}>
            Done
          </button>
        </div>
      </Notice>
    </div>
  );
}
