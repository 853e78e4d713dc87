import { useRef } from 'react';
import type { ShownWorkflowTask } from '../../api.ts';
import { ActButton, ConfirmAction } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { Problem } from '../../parts/layout.tsx';
import { useToast } from '../../parts/toast.tsx';
import { counted, UntrustedText } from '../../parts/values.tsx';
import { useAct } from '../../queries.ts';
import { isEnded } from './status.ts';

const REASON = { label: 'Reason', hint: 'optional, on record', max: 2_000 };

/** The actions on a task: retry or skip a failed one, release a claimed one. */
export function TaskActions({ shown: { task, claim, workflow, dependents, dependents_more } }: { shown: ShownWorkflowTask }) {
  const retry = useAct('workflows.retry');
  const say = useToast();
  const failed = task.status === 'failed' && !isEnded(workflow.status);
  const waiting = dependents.length + dependents_more;
  const actions = useRef<HTMLDivElement>(null);
  // The pressed button has disappeared, so the focus moves to its frame.
  const retried = (): void => {
    actions.current?.focus();
    say('The task can be taken up again.');
  };
  const name = (
    <p className="font-medium">
      <UntrustedText text={task.name} brief />
    </p>
  );
  return (
    // Where there is nothing to do it takes no room, and still keeps the focus of what was done.
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
              keep="Keep it"
              reason={REASON}
              action="workflows.skip"
              input={(reason) => ({ task_id: task.id, ...(reason && { reason }) })}
              failed="The task was not skipped."
              command={`workflow skip ${task.id}`}
              toast="Skipped. What waited for it waits no longer."
            >
              {name}
              <p>
                It is not done, and cannot be taken up again.{' '}
                {waiting === 0
                  ? 'Nothing waits for it.'
                  : `${counted(waiting, 'task waits for it, and no longer does', 'tasks wait for it, and no longer do')}.`}
              </p>
            </ConfirmAction>
          )}
          {claim && (
            <ConfirmAction
              button="Release…"
              needs="operator"
              title="Take this task from its agent?"
              act="Release"
              keep="Leave it"
              reason={REASON}
              action="workflows.release"
              input={(reason) => ({ task_id: task.id, ...(reason && { reason }) })}
              failed="The task was not released."
              command={`workflow release ${task.id}`}
              toast="Released: another agent can take it up."
            >
              {name}
              <p>
                <UntrustedText text={claim.agent_name} /> loses it at once: 1 task becomes claimable, and what that agent still writes to it is refused. Its
                checkpoints stay.
              </p>
            </ConfirmAction>
          )}
        </div>
      )}
      {retry.error && <Problem what="The task was not set back." error={retry.error} />}
      {failed && <CliCommand words={`workflow retry ${task.id}`} />}
    </div>
  );
}
