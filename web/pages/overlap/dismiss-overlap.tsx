import { type SubmitEvent, useState } from 'react';
import type { Overlap } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { Words } from '../../parts/words.tsx';
import { useAct } from '../../queries.ts';

export function DismissOverlap({ overlap, onClose }: { overlap: Overlap; onClose: () => void }) {
  const dismiss = useAct('overlap.dismiss');
  const [reason, setReason] = useState('');
  const { warning_id, title, level, matches } = overlap;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    dismiss.mutate({ warning_id, reason: reason.trim() }, { onSuccess: onClose });
  };
  return (
    <Dialog title="Dismiss this overlap?" onClose={onClose}>
      <form onSubmit={submit} className="mt-3 grid gap-3">
        <p className="font-medium">
          <Said text={title} brief />
        </p>
        <p>
          It is like {counted(matches.length, 'other piece of work', 'other pieces of work')}. Dismissed, it asks nobody any more; it stays on record with the
          reason.
          {level === 'escalated' && ' Whoever starts this work still has to give a verdict.'}
        </p>
        <Words label="Reason" value={reason} onChange={setReason} most={1_000} first required />
        <CliCommand words={`overlap dismiss ${warning_id}`} options={{ reason: reason.trim() || 'why' }} />
        {dismiss.error && <Problem what="Nothing was dismissed." error={dismiss.error} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            Keep it
          </button>
          <ActButton type="submit" look="primary" pending={dismiss.isPending} disabled={!reason.trim()}>
            Dismiss
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
