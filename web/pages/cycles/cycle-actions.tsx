import type { Cycle, ShownCycle } from '../../api.ts';
import { ConfirmAction } from '../../parts/actions.tsx';

/** The buttons for a person who acts in place of the active role. They depend on the phase of the cycle. */
export function CycleActions({ cycle, machine: { transitions, final } }: { cycle: Cycle; machine: ShownCycle['machine'] }) {
  const { id, phase, active_role, repository } = cycle;
  if (cycle.status !== 'active') return null;
  return (
    <>
      {transitions.some(({ from, target }) => from === phase && target === undefined) && (
        <ConfirmAction
          button="Complete"
          look="plain"
          needs="operator"
          title="Complete this cycle?"
          act="Complete"
          keep="Keep open"
          action="cycles.complete"
          input={{ id }}
          failed="The cycle was not completed."
          command="cycle complete"
          options={{ repository }}
          toast={({ mirror_error }) => `Completed.${mirrorWords(mirror_error)}`}
        >
          <p>
            You act in place of {active_role}: the cycle moves from {phase} to {final}. No further handoffs are possible.
          </p>
        </ConfirmAction>
      )}
      {phase === final && (
        <ConfirmAction
          button="Archive"
          look="primary"
          needs="operator"
          title="Archive this cycle?"
          act="Archive"
          keep="Not yet"
          action="cycles.archive"
          input={{ id }}
          failed="The cycle was not archived."
          command="cycle archive"
          options={{ repository }}
          toast={({ mirror_error }) => `Archived.${mirrorWords(mirror_error)}`}
        >
          <p>You act in place of {active_role}. The last handoffs move to .mcp-broker/archive, and the repository is free for the next cycle.</p>
        </ConfirmAction>
      )}
      <ConfirmAction
        button="Cancel cycle"
        needs="operator"
        title="Cancel this cycle?"
        act="Cancel cycle"
        keep="Keep cycle"
        typed={typedFor(cycle)}
        reason={{ label: 'Reason', max: 500, required: true }}
        action="cycles.cancel"
        input={(reason) => ({ id, reason })}
        failed="The cycle was not cancelled."
        command="cycle cancel"
        options={{ repository }}
        toast={({ mirror_error }) => `Cancelled. The handoffs stay in the history.${mirrorWords(mirror_error)}`}
      >
        <p>
          The cycle ends in phase {phase}, and the lock of {active_role} becomes invalid. The handoffs stay in the history.
        </p>
      </ConfirmAction>
    </>
  );
}

/** Text that is added to the confirmation if the files in the repository could not be updated. */
const mirrorWords = (error: string | undefined): string => (error === undefined ? '' : ` The files in the repository could not be updated: ${error}`);

/** The text that a person must type to confirm: the name of the feature, or the cycle's id if that name is long or contains unusual characters. */
const typedFor = ({ feature, cycle_id }: Cycle): string => (/^[\x20-\x7e]{1,60}$/.test(feature) ? feature : cycle_id);
