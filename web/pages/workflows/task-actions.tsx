import { useRef } from 'react';
import type { ShownWorkflowTask } from '../../api.ts';
import { ActButton, ConfirmAction } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { Problem } from '../../parts/layout.tsx';
import { useToast } from '../../parts/toast.tsx';
import { counted, UntrustedText } from '../../parts/values.tsx';
import { useAct } from '../../queries.ts';
import { isEnded } from './status.ts';

const REASON = { label: 'Reason', hint: 'optional, stored in the journal', max: 2_000 };

/** The buttons for a task. A failed task can be retried or skipped, and a claimed task can be released. */
export function TaskActions({ shown: { task, claim, workflow, dependents, dependents_more } }: { shown: ShownWorkflowTask }) {
  const retry = useAct('workflows.retry');
  const say = useToast();
  const failed = task.status === 'failed' && !isEnded(workflow.status);
  const waiting = dependents.length + dependents_more;
  const actions = useRef<HTMLDivElement>(null);
  // The pressed button has disappeared, so move the focus to the element around it.
  const retried = (): void => {
    actions.current?.focus();
    say('Retried. Agents can claim the task again.');
  };
  const name = (
    <p className="font-medium">
      <UntrustedText text={task.name} brief />
    </p>
  );
  return (
    // If there are no buttons, this element takes no space but can still receive the focus.
    <div ref={actions} data-home tabIndex={-1} className="grid gap-2 outline-none empty:-mt-5">
      {(failed || claim) && (
        <div className="flex flex-wrap gap-2">
          {failed && (
            <ActButton look="primary" needs="operator" pending={retry.isPending} onClick={() => retry.mutate({ task_id: task.id }, { onSuccess: retried })}>
              Retry
            </ActButton>
          )}
          {failed && (
            <ConfirmAction
              button="Skip…"
              needs="operator"
              title="Skip this task?"
              act="Skip"
              keep="Keep task"
              reason={REASON}
              action="workflows.skip"
              input={(reason) => ({ task_id: task.id, ...(reason && { reason }) })}
              failed="The task was not skipped."
              command={`workflow skip ${task.id}`}
              toast="Skipped. Its dependents can continue."
            >
              {name}
              <p>
                A skipped task cannot be claimed again.{' '}
                {waiting === 0 ? 'No task depends on it.' : `${counted(waiting, 'dependent task')} no longer ${waiting === 1 ? 'waits' : 'wait'} for it.`}
              </p>
            </ConfirmAction>
          )}
          {claim && (
            <ConfirmAction
              button="Release…"
              needs="operator"
              title="Release this task?"
              act="Release"
              keep="Keep claim"
              reason={REASON}
              action="workflows.release"
              input={(reason) => ({ task_id: task.id, ...(reason && { reason }) })}
              failed="The task was not released."
              command={`workflow release ${task.id}`}
              toast="Released. Another agent can claim the task."
            >
              {name}
              <p>
                <UntrustedText text={claim.agent_name} /> loses its claim and its further updates are refused. 1 task becomes claimable. The checkpoints stay.
              </p>
            </ConfirmAction>
          )}
        </div>
      )}
      {retry.error && <Problem what="The task was not retried." error={retry.error} />}
      {failed && <CliCommand words={`workflow retry ${task.id}`} />}
    </div>
  );
}
