import { type SubmitEvent, useState } from 'react';
import type { Task } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { Words } from '../../parts/words.tsx';
import { useAct } from '../../queries.ts';

interface CancelTaskProps {
  task: Task;
  onClose: () => void;
  onCancelled: () => void;
}

export function CancelTask({ task, onClose, onCancelled }: CancelTaskProps) {
  const cancel = useAct('tasks.cancel');
  const [reason, setReason] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    cancel.mutate({ task_id: task.task_id, reason: reason.trim() }, { onSuccess: onCancelled });
  };
  return (
    <Dialog title="Cancel this task?" onClose={onClose}>
      <form onSubmit={submit} className="mt-3 grid gap-3">
        <p className="font-medium">
          <Said text={task.title} brief />
        </p>
        <p>It is {task.status} now. Cancelling ends it for good. The reason is on record for the team.</p>
        <Words label="Reason" value={reason} onChange={setReason} most={1_000} first required />
        {cancel.error && <Problem what="The task was not cancelled." error={cancel.error} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            Keep it
          </button>
          <ActButton type="submit" look="bad" pending={cancel.isPending} disabled={!reason.trim()}>
            Cancel task
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
