import { useState } from 'react';
import type { ShownWorkflow } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { counted } from '../../parts/count.ts';
import { Field } from '../../parts/field.tsx';
import { useAct } from '../../queries.ts';

interface AbandonProps {
  workflow: ShownWorkflow['workflow'];
  /** How many tasks agents hold, and how many are not done. */
  claims: number;
  open: number;
  onClose: () => void;
  onDone: (words: string) => void;
}

export function AbandonWorkflow({ workflow: { id, name }, claims, open, onClose, onDone }: AbandonProps) {
  const abandon = useAct('workflows.abandon');
  const [reason, setReason] = useState('');
  const act = (): void =>
    abandon.mutate(
      { workflow_id: id, ...(reason.trim() && { reason: reason.trim() }) },
      { onSuccess: () => onDone('Abandoned. Its tasks stay as they were left.') },
    );
  return (
    <Confirm
      title="Abandon this workflow?"
      act="Abandon"
      keep="Keep it"
      typed={name}
      pending={abandon.isPending}
      error={abandon.error}
      failed="The workflow was not abandoned."
      onAct={act}
      onClose={onClose}
    >
      <p>
        {counted(open, 'task')} will not be done, and {claims === 0 ? 'no agent holds one' : `${counted(claims, 'claim')} of agents end at once`}. There is no
        way back: what was done stays, and a new workflow must be made for the rest.
      </p>
      <Field label="Reason" hint="optional, on record">
        {(field) => <input id={field} className="field" maxLength={2_000} value={reason} onChange={({ target }) => setReason(target.value)} />}
      </Field>
      <CliCommand words={`workflow abandon ${id}`} options={{ reason: reason.trim() }} />
    </Confirm>
  );
}
