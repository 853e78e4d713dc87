import { useRef, useState } from 'react';
import type { ShownWorkflow } from '../../api.ts';
import { ActButton, ConfirmAction, FormDialog } from '../../parts/actions.tsx';
import { AsCommand, CliCommand } from '../../parts/command.tsx';
import { TextField } from '../../parts/field.tsx';
import { Problem } from '../../parts/layout.tsx';
import { useToast } from '../../parts/toast.tsx';
import { counted } from '../../parts/values.tsx';
import { useAct } from '../../queries.ts';
import { isEnded } from './status.ts';

/** The actions on a whole workflow. Those that stop nobody's work act without asking, and can be undone. */
export function WorkflowActions({ shown }: { shown: ShownWorkflow }) {
  const { workflow, progress, claims } = shown;
  const pause = useAct('workflows.pause');
  const resume = useAct('workflows.resume');
  const complete = useAct('workflows.complete');
  const say = useToast();
  const actions = useRef<HTMLDivElement>(null);
  const { id: workflow_id, status } = workflow;

  // The pressed button has disappeared, so the focus moves to its frame.
  const done: typeof say = (words, inverse) => {
    actions.current?.focus();
    say(words, inverse);
  };
  const resumeWorkflow = (): void =>
    resume.mutate(
      { workflow_id },
      { onSuccess: () => done('Resumed: its tasks can be taken up.', { label: 'Pause', act: () => pause.mutate({ workflow_id }) }) },
    );
  const pauseWorkflow = (): void =>
    pause.mutate(
      { workflow_id },
      {
        onSuccess: ({ claims: held }) =>
          done(held > 0 ? `Paused. Agents go on with ${counted(held, 'task')}.` : 'Paused.', { label: 'Resume', act: () => resume.mutate({ workflow_id }) }),
      },
    );
  const error = pause.error ?? resume.error ?? complete.error;
  return (
    <div ref={actions} data-home tabIndex={-1} className="grid gap-2 outline-none">
      <div className="flex flex-wrap gap-2">
        {status === 'in_progress' && progress.all_complete && (
          <ActButton
            look="primary"
            needs="operator"
            pending={complete.isPending}
            onClick={() => complete.mutate({ workflow_id }, { onSuccess: () => done('Completed.') })}
          >
            Complete
          </ActButton>
        )}
        {status === 'in_progress' && (
          <ActButton needs="operator" pending={pause.isPending} onClick={pauseWorkflow}>
            Pause
          </ActButton>
        )}
        {(status === 'paused' || status === 'failed') && (
          <ActButton look="primary" needs="operator" pending={resume.isPending} onClick={resumeWorkflow}>
            Resume
          </ActButton>
        )}
        {!isEnded(status) && <Parallelism workflow={workflow} />}
        {!isEnded(status) && (
          <ConfirmAction
            button="Abandon"
            needs="operator"
            title="Abandon this workflow?"
            act="Abandon"
            keep="Keep it"
            typed={workflow.name}
            reason={{ label: 'Reason', hint: 'optional, on record', max: 2_000 }}
            action="workflows.abandon"
            input={(reason) => ({ workflow_id, ...(reason && { reason }) })}
            failed="The workflow was not abandoned."
            command={`workflow abandon ${workflow_id}`}
            toast="Abandoned. Its tasks stay as they were left."
          >
            <p>
              {counted(progress.estimated_remaining, 'task')} will not be done, and{' '}
              {claims.length === 0 ? 'no agent holds one' : `${counted(claims.length, 'claim')} of agents end at once`}. There is no way back: what was done
              stays, and a new workflow must be made for the rest.
            </p>
          </ConfirmAction>
        )}
      </div>
      {error && <Problem what="Nothing was changed." error={error} />}
      {!isEnded(status) && (
        <AsCommand label="The same from a shell">
          {status === 'in_progress' && <CliCommand words={`workflow pause ${workflow_id}`} />}
          {status === 'in_progress' && progress.all_complete && <CliCommand words={`workflow complete ${workflow_id}`} />}
          {(status === 'paused' || status === 'failed') && <CliCommand words={`workflow resume ${workflow_id}`} />}
          <CliCommand words={`workflow parallel ${workflow_id} ${workflow.max_parallel_tasks}`} />
          <CliCommand words={`workflow abandon ${workflow_id}`} />
        </AsCommand>
      )}
    </div>
  );
}

const MAX_PARALLEL = 1_000;

/** How many tasks may be claimed at once. */
function Parallelism({ workflow: { id: workflow_id, max_parallel_tasks } }: { workflow: ShownWorkflow['workflow'] }) {
  const [open, setOpen] = useState(false);
  const set = useAct('workflows.set_parallelism');
  return (
    <>
      <ActButton needs="operator" onClick={() => setOpen(true)}>
        {max_parallel_tasks} at once…
      </ActButton>
      {open && <SetParallelism workflow_id={workflow_id} current={max_parallel_tasks} set={set} onClose={() => setOpen(false)} />}
      {!open && set.error && <Problem what="The number was not changed back." error={set.error} />}
    </>
  );
}

interface SetParallelismProps {
  workflow_id: string;
  current: number;
  /** Outlasts the dialog: the notice takes it back. */
  set: ReturnType<typeof useAct<'workflows.set_parallelism'>>;
  onClose: () => void;
}

function SetParallelism({ workflow_id, current, set, onClose }: SetParallelismProps) {
  const [text, setText] = useState(String(current));
  const say = useToast();
  const count = Number(text);
  const valid = Number.isInteger(count) && count >= 1 && count <= MAX_PARALLEL;
  const submit = (): void =>
    set.mutate(
      { workflow_id, max_parallel_tasks: count },
      {
        onSuccess: ({ from }) => {
          onClose();
          say(`At most ${count} at once.`, { label: `Back to ${from}`, act: () => set.mutate({ workflow_id, max_parallel_tasks: from }) });
        },
      },
    );
  return (
    <FormDialog
      title="How many tasks at once?"
      submit="Set"
      needs="operator"
      ready={valid && count !== current}
      mutation={set}
      failed="Nothing was changed."
      onSubmit={submit}
      onClose={onClose}
    >
      <p>Agents can claim so many tasks of this workflow at the same time. What is claimed already stays claimed.</p>
      <TextField label="Tasks at once" hint={`1 to ${MAX_PARALLEL.toLocaleString()}`} first inputMode="numeric" value={text} onChange={setText} />
      <CliCommand words={`workflow parallel ${workflow_id} ${valid ? count : current}`} />
    </FormDialog>
  );
}
