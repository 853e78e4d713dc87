import { type SubmitEvent, useState } from 'react';
import type { Overlap } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { TextField } from '../../parts/field.tsx';
import { Problem } from '../../parts/layout.tsx';
import { useAct } from '../../queries.ts';

const MAX_REASON = 1_000;

/** The form to dismiss a warning. It asks for a reason. */
export function DismissForm({ overlap: { warning_id, level, mine }, onDismissed }: { overlap: Overlap; onDismissed?: () => void }) {
  const dismiss = useAct('overlap.dismiss');
  const [text, setText] = useState('');
  const reason = text.trim();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    // The promise is used instead of onSuccess, because an event may remove this form before onSuccess runs.
    dismiss.mutateAsync({ warning_id, reason }).then(onDismissed, () => {});
  };
  return (
    <form onSubmit={submit} className="grid gap-3">
      <p className="text-muted">
        Dismissing removes the overlap from everyone's list. It stays in the journal with your reason.
        {level === 'escalated' && ' An agent that starts this work must still give a verdict on the overlap.'}
      </p>
      <TextField label="Reason" max={MAX_REASON} value={text} onChange={setText} />
      {reason && <CliCommand words={`overlap dismiss ${warning_id}`} options={{ reason }} />}
      {dismiss.error && <Problem what="The overlap was not dismissed." error={dismiss.error} />}
      <ActButton type="submit" className="justify-self-end" needs={mine ? 'member' : 'operator'} pending={dismiss.isPending} disabled={!reason}>
        Dismiss
      </ActButton>
    </form>
  );
}
