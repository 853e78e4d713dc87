import { Link } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import type { Overlap } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { useAct } from '../../queries.ts';

const MAX_REASON = 1_000;
const LISTED = 5;

/** The pair in short, and the way to be rid of the warning. */
export function OverlapForm({ overlap: { warning_id, matches }, onDismissed }: { overlap: Overlap; onDismissed: () => void }) {
  const dismiss = useAct('overlap.dismiss');
  const [reason, setReason] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    dismiss.mutateAsync({ warning_id, reason: reason.trim() }).then(onDismissed, () => {});
  };
  return (
    <form onSubmit={submit} className="grid gap-3">
      <p className="text-muted">{counted(matches.length, 'piece of work', 'pieces of work')} that it looks like:</p>
      <ul className="grid gap-2">
        {matches.slice(0, LISTED).map(({ id, title, owner, status, reason: why }) => (
          <li key={id} className="panel px-3 py-2">
            <p className="font-medium">
              <UntrustedText text={title} brief />
            </p>
            <p className="text-muted">
              <UntrustedText text={`${owner} · ${status} · ${why}`} brief />
            </p>
          </li>
        ))}
      </ul>
      <Link to="/tasks/overlaps" search={{ warning: warning_id }} className="button justify-self-start">
        Compare side by side
      </Link>
      <Field label="Why it is no overlap">
        {(id) => (
          <input id={id} className="field" maxLength={MAX_REASON} autoComplete="off" value={reason} onChange={({ target }) => setReason(target.value)} />
        )}
      </Field>
      {reason.trim() && <CliCommand words={`overlap dismiss ${warning_id}`} options={{ reason: reason.trim() }} />}
      {dismiss.error && <Problem what="Nothing was dismissed." error={dismiss.error} />}
      <ActButton type="submit" className="justify-self-end" pending={dismiss.isPending} disabled={!reason.trim()}>
        Dismiss
      </ActButton>
    </form>
  );
}
