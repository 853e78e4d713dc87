import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { ShownWorkflow } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct } from '../../queries.ts';
import { AbandonWorkflow } from './abandon.tsx';
import { Parallelism } from './parallelism.tsx';
import { isEnded } from './status.ts';

/** What can be done with the whole of it. What stops nobody's work is done at once, and taken back as easily. */
export function WorkflowActions({ shown }: { shown: ShownWorkflow }) {
  const { workflow, progress, claims } = shown;
  const [abandoning, setAbandoning] = useState(false);
  const pause = useAct('workflows.pause');
  const resume = useAct('workflows.resume');
  const complete = useAct('workflows.complete');
  const say = useToast();
  const actions = useRef<HTMLDivElement>(null);
  const { id: workflow_id, status } = workflow;

  // The button that was pressed has gone with what it did.
  const done: typeof say = (words, inverse) => {
    flushSync(() => setAbandoning(false));
    actions.current?.focus();
    say(words, inverse);
  };
  const goOn = (): void =>
    resume.mutate(
      { workflow_id },
      { onSuccess: () => done('Resumed: its tasks can be taken up.', { label: 'Pause', act: () => pause.mutate({ workflow_id }) }) },
    );
  const hold = (): void =>
    pause.mutate(
      { workflow_id },
      {
        onSuccess: ({ claims: held }) =>
          done(held > 0 ? `Paused. Agents go on with ${counted(held, 'task')}.` : 'Paused.', { label: 'Resume', act: () => resume.mutate({ workflow_id }) }),
      },
    );
  const error = pause.error ?? resume.error ?? complete.error;
  return (
    <div ref={actions} tabIndex={-1} className="grid gap-2 outline-none">
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
          <ActButton needs="operator" pending={pause.isPending} onClick={hold}>
            Pause
          </ActButton>
        )}
        {(status === 'paused' || status === 'failed') && (
          <ActButton look="primary" needs="operator" pending={resume.isPending} onClick={goOn}>
            Resume
          </ActButton>
        )}
        {!isEnded(status) && <Parallelism workflow={workflow} />}
        {!isEnded(status) && (
          <ActButton look="bad" needs="operator" onClick={() => setAbandoning(true)}>
            Abandon
          </ActButton>
        )}
      </div>
      {error && <Problem what="Nothing was changed." error={error} />}
      {!isEnded(status) && <Commands shown={shown} />}
      {abandoning && (
        <AbandonWorkflow workflow={workflow} claims={claims.length} open={progress.estimated_remaining} onClose={() => setAbandoning(false)} onDone={done} />
      )}
    </div>
  );
}

function Commands({ shown: { workflow, progress } }: { shown: ShownWorkflow }) {
  const { id, status, max_parallel_tasks } = workflow;
  return (
    <details className="text-label">
      <summary className="cursor-pointer text-muted pointer-coarse:min-h-11 pointer-coarse:py-3">The same from a shell</summary>
      <div className="mt-1 grid gap-1">
        {status === 'in_progress' && <CliCommand words={`workflow pause ${id}`} />}
        {status === 'in_progress' && progress.all_complete && <CliCommand words={`workflow complete ${id}`} />}
        {(status === 'paused' || status === 'failed') && <CliCommand words={`workflow resume ${id}`} />}
        <CliCommand words={`workflow parallel ${id} ${max_parallel_tasks}`} />
        <CliCommand words={`workflow abandon ${id}`} />
      </div>
    </details>
  );
}
