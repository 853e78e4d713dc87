import { useState } from 'react';
import type { ActionResult, Instance } from '../../api.ts';
import { ActButton, ConfirmDialog, FormDialog } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { openDialog } from '../../parts/dialog.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Notice, Problem } from '../../parts/layout.tsx';
import { useToast } from '../../parts/toast.tsx';
import { counted, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';
import { AT_WORK_STATUSES, OPEN_STATUSES } from './status.ts';

/** The actions on an instance; none once it has ended. */
export function InstanceActions({ instance }: { instance: Instance }) {
  const atWork = AT_WORK_STATUSES.includes(instance.status);
  if (!OPEN_STATUSES.includes(instance.status)) return null;
  const end = (how: EndingAction) => openDialog((close) => <EndInstance instance={instance} how={how} onClose={close} />);
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap gap-2">
        {(atWork || instance.running) && (
          <ActButton needs="operator" look="primary" onClick={() => openDialog((close) => <MessageAgent instance={instance} onClose={close} />)}>
            Message agent
          </ActButton>
        )}
        {atWork && instance.type === 'coding' && <AllowReview instance={instance} />}
        <ActButton needs="operator" onClick={() => end('stop')}>
          Stop agent
        </ActButton>
        {instance.type !== 'review' && (
          <ActButton needs="operator" look="bad" onClick={() => end('abandon')}>
            Abandon
          </ActButton>
        )}
      </div>
      {instance.at_limit && (
        <div className="max-w-xl">
          <CliCommand words={`instances allow ${instance.id}`} />
        </div>
      )}
    </div>
  );
}

/** Acts without asking: it can be undone until that review begins. */
function AllowReview({ instance: { id, max_reviews, extra_reviews, reviews } }: { instance: Instance }) {
  const act = useAct('instances.allow_review');
  const say = useToast();
  const withdraw = (): void =>
    act.mutate({ instance_id: id, withdraw: true }, { onSuccess: (after) => say(`${id} may have ${after.max_reviews} reviews again.`) });
  const allow = (): void =>
    act.mutate(
      { instance_id: id },
      { onSuccess: (after) => say(`${id} may have ${after.max_reviews} reviews now.`, { label: 'Take it back', act: withdraw }) },
    );
  return (
    <>
      <ActButton needs="operator" pending={act.isPending} title={`Raises its limit of ${max_reviews} reviews by one`} onClick={allow}>
        Allow one more round
      </ActButton>
      {extra_reviews > 0 && reviews < max_reviews && (
        <ActButton needs="operator" pending={act.isPending} onClick={withdraw}>
          Take one round back
        </ActButton>
      )}
      {act.error && (
        <div className="basis-full">
          <Problem what="Its limit stays as it is." error={act.error} />
        </div>
      )}
    </>
  );
}

type EndingAction = 'stop' | 'abandon';

const WORDS: Record<EndingAction, { title: string; what: string; button: string }> = {
  stop: { title: 'Stop this agent?', what: 'Its agent ends. A review that is stopped sets its coder free.', button: 'Stop agent' },
  abandon: { title: 'Abandon this instance?', what: 'Its work is given up, and its agent ends.', button: 'Abandon' },
};

/** Stops or abandons the instance. The dialog counts first what would be lost. */
function EndInstance({ instance, how, onClose }: { instance: Instance; how: EndingAction; onClose: () => void }) {
  const unsaved = useRead('instances.unsaved', { instance_id: instance.id }, { ignoreEvents: true });
  const { title, what, button } = WORDS[how];
  return (
    <ConfirmDialog
      title={title}
      act={button}
      keep="Keep it"
      reason={{ label: 'Reason (optional)', max: 500 }}
      action={`instances.${how}`}
      input={(reason) => ({ instance_id: instance.id, ...(reason && { reason }) })}
      failed="Nothing was ended."
      command={`instances ${how} ${instance.id}`}
      onClose={onClose}
    >
      <p className="mono font-medium">{instance.id}</p>
      <p>
        {what} {unsaved.data?.review && `The review by ${unsaved.data.review} ends with it.`}
      </p>
      {unsaved.data && <Unsaved instance={instance} unsaved={unsaved.data} />}
      {unsaved.error && <Problem what="It is not known what its worktree holds." error={unsaved.error} onRetry={() => void unsaved.refetch()} />}
      {!unsaved.data && !unsaved.error && <p className="skeleton h-16" role="status" aria-label="Counting what is not saved" />}
    </ConfirmDialog>
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

const WAYS = {
  terminal: 'It is in its inbox, and typed into its terminal within seconds.',
  next_start: 'It is in its inbox; its agent hears of it when it is started again.',
} as const;

function MessageAgent({ instance: { id, running, session_kind }, onClose }: { instance: Instance; onClose: () => void }) {
  const send = useAct('instances.message');
  const say = useToast();
  const [message, setMessage] = useState('');
  const words = message.trim();
  const sent = ({ reaches }: ActionResult<'instances.message'>): void => {
    say(`Sent to ${id}. ${WAYS[reaches]}`);
    onClose();
  };
  return (
    <FormDialog
      title={`Message ${id}`}
      submit="Send"
      needs="machine"
      ready={words !== ''}
      mutation={send}
      failed="Nothing was sent."
      onSubmit={() => send.mutate({ instance_id: id, message: words }, { onSuccess: sent })}
      onClose={onClose}
    >
      <p>
        Its agent finds it in its inbox{' '}
        {running && session_kind === 'tmux' ? 'and sees it typed into its terminal, as one line.' : 'and is started with it when its program has ended.'} The
        journal has that you wrote, not what.
      </p>
      <TextArea label="Message" value={message} onChange={setMessage} max={8_000} rows={4} first required />
      <CliCommand words={`instances message ${id}`} options={{ text: words || 'TEXT' }} />
    </FormDialog>
  );
}
