import type { ShownWorkflowTask } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { UntrustedText } from '../../parts/said.tsx';
import { Notice, State } from '../../parts/tone.tsx';
import { TaskLink } from './next-tasks.tsx';
import { Part } from './part.tsx';
import { said, TASK_TONES } from './status.ts';

type Neighbour = ShownWorkflowTask['dependencies'][number];

/** What a blocked task waits for in the end: the last of the longest chain that is not done. */
export function HeldUp({ shown: { unmet, unmet_length } }: { shown: ShownWorkflowTask }) {
  const last = unmet.at(-1);
  if (!last) return null;
  const between = unmet_length - 1;
  return (
    <Notice tone="wait">
      <div className="flex flex-wrap items-center gap-x-2">
        Held up in the end by <TaskLink id={last.id} name={last.name} />
        <State tone={TASK_TONES[last.status]}>{said(last.status)}</State>
      </div>
      {between > 0 && (
        <p className="mt-1">
          {counted(between, 'task stands', 'tasks stand')} between: <UntrustedText text={chainOf(unmet, unmet_length)} brief />
        </p>
      )}
    </Notice>
  );
}

/** From the nearest on; of a long one the middle is left out. */
function chainOf(unmet: readonly Neighbour[], length: number): string {
  const between = unmet.slice(0, -1).map(({ name }) => name);
  return length > unmet.length ? `${between.join(' ← ')} ← … ${length - unmet.length} more …` : between.join(' ← ');
}

export function Dependencies({ shown }: { shown: ShownWorkflowTask }) {
  return (
    <>
      <Part title="Waits for" about={countOf(shown.dependencies, shown.dependencies_more)}>
        <Neighbours tasks={shown.dependencies} more={shown.dependencies_more} none="It waits for nothing." />
      </Part>
      <Part title="Waited for by" about={countOf(shown.dependents, shown.dependents_more)}>
        <Neighbours tasks={shown.dependents} more={shown.dependents_more} none="Nothing waits for it." />
      </Part>
    </>
  );
}

const countOf = (tasks: readonly Neighbour[], more: number) => tasks.length > 0 && counted(tasks.length + more, 'task');

function Neighbours({ tasks, more, none }: { tasks: readonly Neighbour[]; more: number; none: string }) {
  if (tasks.length === 0) return <p className="text-muted">{none}</p>;
  return (
    <ul className="panel max-h-60 divide-y divide-line overflow-y-auto">
      {tasks.map(({ id, name, status }) => (
        <li key={id} className="flex items-start justify-between gap-2 px-3 py-1">
          <TaskLink id={id} name={name} />
          <State tone={TASK_TONES[status]}>{said(status)}</State>
        </li>
      ))}
      {more > 0 && <li className="px-3 py-1 text-muted">and {more.toLocaleString()} more</li>}
    </ul>
  );
}
