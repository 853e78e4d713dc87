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

/** The buttons for a workflow. An action that does not stop anybody's work needs no confirmation, because it can be undone. */
export function WorkflowActions({ shown }: { shown: ShownWorkflow }) {
  const { workflow, progress, claims } = shown;
  const pause = useAct('workflows.pause');
  const resume = useAct('workflows.resume');
  const complete = useAct('workflows.complete');
  const say = useToast();
  const actions = useRef<HTMLDivElement>(null);
  const { id: workflow_id, status } = workflow;

  // The pressed button has disappeared, so move the focus to the element around it.
  const done: typeof say = (words, inverse) => {
    actions.current?.focus();
    say(words, inverse);
  };
  const resumeWorkflow = (): void =>
    resume.mutate(
      { workflow_id },
      { onSuccess: () => done('Resumed. Agents can claim its tasks.', { label: 'Pause', act: () => pause.mutate({ workflow_id }) }) },
    );
  const pauseWorkflow = (): void =>
    pause.mutate(
      { workflow_id },
      {
        onSuccess: ({ claims: held }) =>
          done(held > 0 ? `Paused. ${counted(held, 'task')} in progress ${held === 1 ? 'continues' : 'continue'}.` : 'Paused.', {
            label: 'Resume',
            act: () => resume.mutate({ workflow_id }),
          }),
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
            keep="Keep workflow"
            typed={workflow.name}
            reason={{ label: 'Reason', hint: 'optional, stored in the journal', max: 2_000 }}
            action="workflows.abandon"
            input={(reason) => ({ workflow_id, ...(reason && { reason }) })}
            failed="The workflow was not abandoned."
            command={`workflow abandon ${workflow_id}`}
            toast="Abandoned."
          >
            <p>
              {counted(progress.estimated_remaining, 'task')} will not be done
              {claims.length > 0 && `, and ${counted(claims.length, 'claim')} of agents ${claims.length === 1 ? 'ends' : 'end'} immediately`}. This cannot be
              undone. Completed work stays; create a new workflow for the rest.
            </p>
          </ConfirmAction>
        )}
      </div>
      {error && <Problem what="The workflow was not changed." error={error} />}
      {!isEnded(status) && (
        <AsCommand>
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

/** The button that changes the limit of parallel tasks. */
function Parallelism({ workflow: { id: workflow_id, max_parallel_tasks } }: { workflow: ShownWorkflow['workflow'] }) {
  const [open, setOpen] = useState(false);
  const set = useAct('workflows.set_parallelism');
  return (
    <>
      <ActButton needs="operator" onClick={() => setOpen(true)}>
        Parallel tasks: {max_parallel_tasks}…
      </ActButton>
      {open && <SetParallelism workflow_id={workflow_id} current={max_parallel_tasks} set={set} onClose={() => setOpen(false)} />}
      {!open && set.error && <Problem what="The limit was not restored." error={set.error} />}
    </>
  );
}

interface SetParallelismProps {
  workflow_id: string;
  current: number;
  /** The parent component creates this, because the undo button in the toast is still needed after the dialog is closed. */
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
          say(`Limit set to ${counted(count, 'parallel task')}.`, {
            label: `Back to ${from}`,
            act: () => set.mutate({ workflow_id, max_parallel_tasks: from }),
          });
        },
      },
    );
  return (
    <FormDialog
      title="Limit of parallel tasks"
      submit="Set"
      needs="operator"
      ready={valid && count !== current}
      mutation={set}
      failed="The limit was not changed."
      onSubmit={submit}
      onClose={onClose}
    >
      <p>The number of tasks of this workflow that agents can hold at the same time. Claimed tasks stay claimed.</p>
      <TextField label="Parallel tasks" hint={`1 to ${MAX_PARALLEL.toLocaleString()}`} first inputMode="numeric" value={text} onChange={setText} />
      <CliCommand words={`workflow parallel ${workflow_id} ${valid ? count : current}`} />
    </FormDialog>
  );
}
