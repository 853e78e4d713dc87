import { type SubmitEvent, useState } from 'react';
import type { ShownWorkflow } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct } from '../../queries.ts';

const MAX_ITEMS = 1_000;

/** How many tasks may be claimed at once. */
export function Parallelism({ workflow: { id: workflow_id, max_parallel_tasks } }: { workflow: ShownWorkflow['workflow'] }) {
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
  const wanted = Number(text);
  const valid = Number.isInteger(wanted) && wanted >= 1 && wanted <= MAX_ITEMS;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    set.mutate(
      { workflow_id, max_parallel_tasks: wanted },
      {
        onSuccess: ({ from }) => {
          onClose();
          say(`At most ${wanted} at once.`, { label: `Back to ${from}`, act: () => set.mutate({ workflow_id, max_parallel_tasks: from }) });
        },
      },
    );
  };
  return (
    <Dialog title="How many tasks at once?" onClose={onClose}>
      <form onSubmit={submit} className="mt-3 grid gap-3">
        <p>Agents can claim so many tasks of this workflow at the same time. What is claimed already stays claimed.</p>
        <Field label="Tasks at once" hint={`1 to ${MAX_ITEMS.toLocaleString()}`}>
          {(field) => (
            <input
              id={field}
              className="field"
              data-first
              inputMode="numeric"
              autoComplete="off"
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          )}
        </Field>
        <CliCommand words={`workflow parallel ${workflow_id} ${valid ? wanted : current}`} />
        {set.error && <Problem what="Nothing was changed." error={set.error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <ActButton type="submit" look="primary" needs="operator" pending={set.isPending} disabled={!valid || wanted === current}>
            Set
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
