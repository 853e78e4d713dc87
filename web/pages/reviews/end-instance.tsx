import { useState } from 'react';
import type { ActionResult, Instance } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { counted } from '../../parts/count.ts';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { Notice } from '../../parts/tone.tsx';
import { useAct, useRead } from '../../queries.ts';

export type EndingAction = 'stop' | 'abandon';

const WORDS: Record<EndingAction, { title: string; what: string; button: string }> = {
  stop: { title: 'Stop this agent?', what: 'Its agent ends. A review that is stopped sets its coder free.', button: 'Stop agent' },
  abandon: { title: 'Abandon this instance?', what: 'Its work is given up, and its agent ends.', button: 'Abandon' },
};

/** What ends with it is counted before it is asked. */
export function EndInstance({ instance, how, onClose }: { instance: Instance; how: EndingAction; onClose: () => void }) {
  const act = useAct(`instances.${how}`);
  const unsaved = useRead('instances.unsaved', { instance_id: instance.id }, { byTimeAlone: true });
  const [reason, setReason] = useState('');
  const { title, what, button } = WORDS[how];
  const given = reason.trim();
  return (
    <Confirm
      title={title}
      act={button}
      keep="Keep it"
      pending={act.isPending}
      error={act.error}
      failed="Nothing was ended."
      onAct={() => act.mutate({ instance_id: instance.id, ...(given && { reason: given }) }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p className="mono font-medium">{instance.id}</p>
      <p>
        {what} {unsaved.data?.review && `The review by ${unsaved.data.review} ends with it.`}
      </p>
      {unsaved.data && <Unsaved instance={instance} unsaved={unsaved.data} />}
      {unsaved.error && <Problem what="It is not known what its worktree holds." error={unsaved.error} onRetry={() => void unsaved.refetch()} />}
      {!unsaved.data && !unsaved.error && <p className="skeleton h-16" role="status" aria-label="Counting what is not saved" />}
      <Field label="Reason (optional)">
        {(id) => <input id={id} className="field" maxLength={500} value={reason} onChange={({ target }) => setReason(target.value)} />}
      </Field>
      <CliCommand words={`instances ${how} ${instance.id}`} options={{ reason: given }} />
    </Confirm>
  );
}

function Unsaved({ instance, unsaved }: { instance: Instance; unsaved: ActionResult<'instances.unsaved'> }) {
  const { worktree, uncommitted, unpushed, kept_reason, backup_ref } = unsaved;
  if (worktree === 'gone' && kept_reason === null) return <p>Its worktree is gone already.</p>;
  if (kept_reason === null) return <Notice tone="good">Nothing would be lost: its worktree and branch are removed.</Notice>;
  return (
    <Notice tone="wait">
      <p className="font-medium">
        {counted(uncommitted, 'file')} not committed, {counted(unpushed, 'commit')} on no remote.
      </p>
      <p>
        So its worktree stays: <UntrustedText text={kept_reason} />.
      </p>
      <p className="mt-1">
        Later <code>covenant instances clean {instance.id} --force</code> removes it, and keeps what is in it as <code>{backup_ref}</code>.
      </p>
    </Notice>
  );
}
