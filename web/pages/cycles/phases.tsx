import { Fragment } from 'react';
import type { ShownCycle } from '../../api.ts';
import { TwinTable } from '../../parts/twin-table.tsx';
import { counted } from '../../parts/values.tsx';

type Machine = ShownCycle['machine'];
type Transition = Machine['transitions'][number];

interface PhasesProps {
  machine: Machine;
  /** For each transition, how often the cycle has made it. */
  taken: readonly number[];
  /** Null if the cycle has ended. */
  phase: string | null;
}

/** Assigns each phase to a layer of the drawing. The layer is one higher than the highest layer among the earlier phases that lead to it. */
export function layersOf({ phases, transitions }: Machine): number[] {
  const place = new Map(phases.map(({ name }, index) => [name, index]));
  const layers: number[] = [];
  phases.forEach(({ name }, index) => {
    const before = transitions.filter(({ from, to }) => to === name && (place.get(from) ?? index) < index).map(({ from }) => layers[place.get(from) ?? 0] ?? 0);
    layers.push(before.length > 0 ? Math.max(...before) + 1 : index === 0 ? 0 : (layers[index - 1] ?? 0) + 1);
  });
  return layers;
}

const isBack = ({ phases }: Machine, { from, to }: Transition): boolean =>
  phases.findIndex(({ name }) => name === to) <= phases.findIndex(({ name }) => name === from);
const how = ({ target }: Transition): string => (target === undefined ? 'complete' : `to ${target}`);

/** Draws the phases with their roles and transitions, side by side if the screen is wide enough, otherwise below each other. */
export function Phases(props: PhasesProps) {
  const { machine, taken, phase } = props;
  const marked = (name: string): string => (name === phase ? `${name} (now)` : name);
  const layers = layersOf(machine);
  const description = machine.phases.map(({ name, role }) => `${name} of ${role}${name === phase ? ', now' : ''}`).join('; ');
  return (
    <figure className="grid gap-2">
      <div role="img" aria-label={`Phases: ${description}`} className="flex gap-2 max-sm:flex-col sm:flex-wrap sm:justify-center">
        {[...new Set(layers)].map((layer) => (
          <Fragment key={layer}>
            {layer > 0 && <span className="text-control max-sm:rotate-90 max-sm:self-center sm:mt-3">→</span>}
            <div className="grid content-start gap-2">
              {machine.phases.map((step, index) => layers[index] === layer && <Step key={step.name} step={step} {...props} />)}
            </div>
          </Fragment>
        ))}
      </div>
      <TwinTable
        title="Phases"
        label="Phases and transitions"
        heads={['From', 'Role', 'Transition', 'To', 'Count']}
        rows={machine.transitions.map((transition, index) => ({
          key: `${transition.from} ${how(transition)}`,
          cells: [
            marked(transition.from),
            machine.phases.find(({ name }) => name === transition.from)?.role ?? '—',
            how(transition),
            marked(transition.to),
            `${counted(taken[index] ?? 0, 'time')}${isBack(machine, transition) ? ' (rework)' : ''}`,
          ],
        }))}
      />
    </figure>
  );
}

function Step({ step: { name, role }, machine, taken, phase }: PhasesProps & { step: Machine['phases'][number] }) {
  const now = name === phase;
  return (
    <div className="grid min-w-32 content-start gap-1 text-center text-label wrap-anywhere sm:max-w-56">
      <div className={`grid rounded-lg border px-3 py-1.5 ${now ? 'border-live bg-live text-on-live' : 'border-control bg-surface'}`}>
        <span className="font-semibold">{name}</span>
        <span className={now ? '' : 'text-muted'}>{now ? `turn of ${role}` : role}</span>
      </div>
      {machine.transitions.map((transition, index) => {
        if (transition.from !== name) return null;
        const [back, times] = [isBack(machine, transition), taken[index] ?? 0];
        return (
          <span key={`${transition.to} ${how(transition)}`} className={times === 0 ? 'text-muted' : back ? 'text-wait' : 'text-live'}>
            {`${back ? '↩' : '→'} ${transition.to}: ${how(transition)}${back ? ' · rework' : ''}${times > 0 ? ` ×${times}` : ''}`}
          </span>
        );
      })}
    </div>
  );
}
