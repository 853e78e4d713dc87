import { type SubmitEvent, useState } from 'react';
import type { Instance } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useAct } from '../../queries.ts';

export type Ending = 'stop' | 'abandon';

const WORDS: Record<Ending, { title: string; what: string; button: string }> = {
  stop: { title: 'Stop this agent?', what: 'Its agent ends. A review that is stopped sets its coder free.', button: 'Stop agent' },
  abandon: { title: 'Abandon this instance?', what: 'Its work is given up: its agent ends, and an open review with it.', button: 'Abandon' },
};

export function EndInstance({ instance, how, onClose }: { instance: Instance; how: Ending; onClose: () => void }) {
  const act = useAct(`instances.${how}`);
  const [reason, setReason] = useState('');
  const { title, what, button } = WORDS[how];
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    act.mutate({ instance_id: instance.id, ...(reason.trim() && { reason: reason.trim() }) }, { onSuccess: onClose });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="mt-3 grid gap-3">
        <p className="mono font-medium">{instance.id}</p>
        <p>{what} Its worktree goes only if nothing in it would be lost; otherwise it is kept, and the reason is shown here.</p>
        <Field label="Reason (optional)">
          {(id) => <input id={id} className="field" data-first maxLength={500} value={reason} onChange={({ target }) => setReason(target.value)} />}
        </Field>
        {act.error && <Problem what="Nothing was ended." error={act.error} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            Keep it
          </button>
          <ActButton type="submit" look="bad" pending={act.isPending}>
            {button}
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
