import { type SubmitEvent, useId, useState } from 'react';
import type { Approval } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { Problem, Scrolled, State } from '../../parts/layout.tsx';
import { Id, Time, Until, UntrustedText, workerOf } from '../../parts/values.tsx';
import { useAct } from '../../queries.ts';

const MAX_REASON = 500;

/** The form to approve or reject a held call with one click. The caller receives the reason, which is optional. */
export function ApprovalForm({ approval, onDecided }: { approval: Approval; onDecided: (words: string) => void }) {
  const approve = useAct('approvals.approve');
  const refuse = useAct('approvals.refuse');
  const [reason, setReason] = useState('');
  const field = useId();
  const { approval_id, name } = approval;
  const pending = approve.isPending || refuse.isPending;
  const error = approve.error ?? refuse.error;
  // The promise is used instead of onSuccess, because an event may remove this form before onSuccess runs.
  const decide = (done: Promise<unknown>, words: string): void => {
    done.then(
      () => onDecided(words),
      () => {},
    );
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const given = reason.trim();
    decide(refuse.mutateAsync({ approval_id, ...(given && { reason: given }) }), `Rejected ${name}.`);
  };
  return (
    <form onSubmit={submit} className="grid gap-2">
      <p className="flex flex-wrap items-center gap-x-2 text-muted">
        <State tone="you">approval</State>
        <UntrustedText text={approval.developer === null ? 'the operator' : workerOf(approval.developer, approval.agent)} />
        <span className="ml-auto flex flex-wrap gap-x-2">
          <Time at={approval.requested_at} />
          <Id id={approval_id} />
        </span>
      </p>
      <div className="grid gap-1">
        <p className="font-medium">
          <UntrustedText text={`${approval.noun} ${name}`} />
        </p>
        <Arguments approval={approval} />
        <p className="text-muted">
          {approval.server !== null && approval.noun !== 'resource' && (
            <>
              <UntrustedText text={`server ${approval.server}`} /> ·{' '}
            </>
          )}
          expires <Until at={approval.deadline_at} />
        </p>
      </div>
      <div className="grid items-center gap-2 sm:grid-cols-[auto_minmax(0,1fr)_auto]">
        <ActButton look="primary" pending={pending} onClick={() => decide(approve.mutateAsync({ approval_id }), `Approved ${name}.`)}>
          Approve
        </ActButton>
        <label htmlFor={field} className="sr-only">
          Reason for rejecting
        </label>
        <input
          id={field}
          className="field"
          maxLength={MAX_REASON}
          placeholder="Reason to reject (optional)"
          autoComplete="off"
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
        <ActButton type="submit" look="bad" pending={pending}>
          Reject
        </ActButton>
      </div>
      {error && <Problem what="The call was not decided." error={error} />}
      {reason.trim() ? (
        <CliCommand words={`approvals reject ${approval_id}`} options={{ reason: reason.trim() }} />
      ) : (
        <CliCommand words={`approvals approve ${approval_id}`} />
      )}
    </form>
  );
}

/** Shows the arguments of the held call. They are formatted unless the server had to cut them. */
function Arguments({ approval: { arguments: text, arguments_bytes, arguments_cut } }: { approval: Approval }) {
  if (text === null || text === '{}') return <p className="text-muted">No arguments</p>;
  return (
    <>
      <Scrolled label="Arguments" className="mono max-h-64 rounded-md bg-surface px-2 py-1.5">
        <UntrustedText text={arguments_cut ? text : JSON.stringify(JSON.parse(text), null, 2)} />
      </Scrolled>
      {arguments_cut && <p className="text-wait">{`Truncated. Full size: ${(arguments_bytes ?? 0).toLocaleString()} bytes.`}</p>}
    </>
  );
}
