import type { Cycle, ShownCycle } from '../../api.ts';
import { ConfirmAction } from '../../parts/actions.tsx';

/** The actions that a person can take in place of the cycle's role, as far as its phase allows them. */
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
          keep="Keep going"
          action="cycles.complete"
          input={{ id }}
          failed="It was not completed."
          command="cycle complete"
          options={{ repository }}
          toast={({ mirror_error }) => `Completed.${mirrorWords(mirror_error)}`}
        >
          <p>
            You do so in the place of {active_role}: the cycle goes from {phase} to {final}, and nothing more can be handed over in it.
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
          failed="It was not archived."
          command="cycle archive"
          options={{ repository }}
          toast={({ mirror_error }) => `Archived.${mirrorWords(mirror_error)}`}
        >
          <p>You do so in the place of {active_role}. Its last handoffs go to .mcp-broker/archive in the repository, which is free for the next cycle.</p>
        </ConfirmAction>
      )}
      <ConfirmAction
        button="Cancel cycle"
        needs="operator"
        title="Cancel this cycle?"
        act="Cancel cycle"
        keep="Keep it"
        typed={typedFor(cycle)}
        reason={{ label: 'Reason', max: 500, required: true }}
        action="cycles.cancel"
        input={(reason) => ({ id, reason })}
        failed="It was not cancelled."
        command="cycle cancel"
        options={{ repository }}
        toast={({ mirror_error }) => `Cancelled. Its handoffs stay in the history.${mirrorWords(mirror_error)}`}
      >
        <p>
          It ends in the phase {phase}, in the turn of {active_role}, whose lock is of no use from then on. Its handoffs stay in the history.
        </p>
      </ConfirmAction>
    </>
  );
}

/** Added if the files in the repository could not be updated. */
const mirrorWords = (error: string | undefined): string => (error === undefined ? '' : ` Its files are behind: ${error}`);

/** The text to type; the id if the name has characters that no keyboard has. */
const typedFor = ({ feature, cycle_id }: Cycle): string => (/^[\x20-\x7e]{1,60}$/.test(feature) ? feature : cycle_id);
