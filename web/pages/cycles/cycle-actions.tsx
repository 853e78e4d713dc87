import { useState } from 'react';
import type { Cycle, ShownCycle } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Field } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct } from '../../queries.ts';

type Machine = ShownCycle['machine'];
interface StepProps {
  cycle: Cycle;
  onClose: () => void;
}

type Step = 'complete' | 'archive' | 'cancel';

/** What people do to a cycle in the place of its role. Only what its phase allows is offered. */
export function CycleActions({ cycle, machine }: { cycle: Cycle; machine: Machine }) {
  const [step, setStep] = useState<Step>();
  const close = () => setStep(undefined);
  if (cycle.status !== 'active') return null;
  const completes = machine.transitions.some(({ from, target }) => from === cycle.phase && target === undefined);
  return (
    <>
      {completes && (
        <ActButton needs="operator" onClick={() => setStep('complete')}>
          Complete
        </ActButton>
      )}
      {cycle.phase === machine.final && (
        <ActButton needs="operator" look="primary" onClick={() => setStep('archive')}>
          Archive
        </ActButton>
      )}
      <ActButton needs="operator" look="bad" onClick={() => setStep('cancel')}>
        Cancel cycle
      </ActButton>
      {step === 'complete' && <Complete cycle={cycle} final={machine.final} onClose={close} />}
      {step === 'archive' && <Archive cycle={cycle} onClose={close} />}
      {step === 'cancel' && <Cancel cycle={cycle} onClose={close} />}
    </>
  );
}

/** Where the files in the repository could not follow. */
const behind = (error: string | undefined): string => (error === undefined ? '' : ` Its files are behind: ${error}`);

function Complete({ cycle, final, onClose }: StepProps & { final: string }) {
  const complete = useAct('cycles.complete');
  const say = useToast();
  const act = (): void =>
    complete.mutate(
      { id: cycle.id },
      {
        onSuccess: ({ mirror_error }) => {
          onClose();
          say(`Completed.${behind(mirror_error)}`);
        },
      },
    );
  return (
    <Confirm
      title="Complete this cycle?"
      act="Complete"
      keep="Keep going"
      pending={complete.isPending}
      error={complete.error}
      failed="It was not completed."
      onAct={act}
      onClose={onClose}
    >
      <p>
        You do so in the place of {cycle.active_role}: the cycle goes from {cycle.phase} to {final}, and nothing more can be handed over in it.
      </p>
      <CliCommand words="cycle complete" options={{ repository: cycle.repository }} />
    </Confirm>
  );
}

function Archive({ cycle, onClose }: StepProps) {
  const archive = useAct('cycles.archive');
  const say = useToast();
  const act = (): void =>
    archive.mutate(
      { id: cycle.id },
      {
        onSuccess: ({ mirror_error }) => {
          onClose();
          say(`Archived.${behind(mirror_error)}`);
        },
      },
    );
  return (
    <Confirm
      title="Archive this cycle?"
      act="Archive"
      keep="Not yet"
      pending={archive.isPending}
      error={archive.error}
      failed="It was not archived."
      onAct={act}
      onClose={onClose}
    >
      <p>You do so in the place of {cycle.active_role}. Its last handoffs go to .mcp-broker/archive in the repository, which is free for the next cycle.</p>
      <CliCommand words="cycle archive" options={{ repository: cycle.repository }} />
    </Confirm>
  );
}

/** Nobody can type what has no key: then the cycle's name in the history serves. */
const typedFor = ({ feature, cycle_id }: Cycle): string => (/^[\x20-\x7e]{1,60}$/.test(feature) ? feature : cycle_id);

function Cancel({ cycle, onClose }: StepProps) {
  const cancel = useAct('cycles.cancel');
  const say = useToast();
  const [reason, setReason] = useState('');
  const act = (): void =>
    cancel.mutate(
      { id: cycle.id, reason: reason.trim() },
      {
        onSuccess: ({ mirror_error }) => {
          onClose();
          say(`Cancelled. Its handoffs stay in the history.${behind(mirror_error)}`);
        },
      },
    );
  return (
    <Confirm
      title="Cancel this cycle?"
      act="Cancel cycle"
      keep="Keep it"
      typed={typedFor(cycle)}
      ready={reason.trim() !== ''}
      pending={cancel.isPending}
      error={cancel.error}
      failed="It was not cancelled."
      onAct={act}
      onClose={onClose}
    >
      <p>
        It ends in the phase {cycle.phase}, in the turn of {cycle.active_role}, whose lock is of no use from then on. Its handoffs stay in the history.
      </p>
      <Field label="Reason">
        {(id) => <input id={id} className="field" data-first maxLength={500} value={reason} onChange={({ target }) => setReason(target.value)} />}
      </Field>
      <CliCommand words="cycle cancel" options={{ repository: cycle.repository, reason: reason.trim() || 'TEXT' }} />
    </Confirm>
  );
}
