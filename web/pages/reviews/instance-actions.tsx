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

/** The buttons for an instance. There are none after the instance has ended. */
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

/** Allows one more review. This asks for no confirmation, because it can be undone until the extra review starts. */
function AllowReview({ instance: { id, max_reviews, extra_reviews, reviews } }: { instance: Instance }) {
  const act = useAct('instances.allow_review');
  const say = useToast();
  const withdraw = (): void =>
    act.mutate({ instance_id: id, withdraw: true }, { onSuccess: (after) => say(`Limit of ${id}: ${counted(after.max_reviews, 'review')}.`) });
  const allow = (): void =>
    act.mutate(
      { instance_id: id },
      { onSuccess: (after) => say(`Limit of ${id}: ${counted(after.max_reviews, 'review')}.`, { label: 'Undo', act: withdraw }) },
    );
  return (
    <>
      <ActButton needs="operator" pending={act.isPending} title={`Raises the limit of ${max_reviews} reviews by one`} onClick={allow}>
        Allow one more round
      </ActButton>
      {extra_reviews > 0 && reviews < max_reviews && (
        <ActButton needs="operator" pending={act.isPending} onClick={withdraw}>
          Withdraw extra round
        </ActButton>
      )}
      {act.error && (
        <div className="basis-full">
          <Problem what="The limit was not changed." error={act.error} />
        </div>
      )}
    </>
  );
}

type EndingAction = 'stop' | 'abandon';

const WORDS: Record<EndingAction, { title: string; what: string; button: string }> = {
  stop: { title: 'Stop this agent?', what: 'The agent stops. If it is a reviewer, the coding agent continues without the review.', button: 'Stop agent' },
  abandon: { title: 'Abandon this instance?', what: 'The agent stops, and its work is not continued.', button: 'Abandon' },
};

/** The dialog to stop or abandon an instance. It shows how much unsaved work there is. */
function EndInstance({ instance, how, onClose }: { instance: Instance; how: EndingAction; onClose: () => void }) {
  const unsaved = useRead('instances.unsaved', { instance_id: instance.id }, { ignoreEvents: true });
  const { title, what, button } = WORDS[how];
  return (
    <ConfirmDialog
      title={title}
      act={button}
      keep="Keep running"
      reason={{ label: 'Reason (optional)', max: 500 }}
      action={`instances.${how}`}
      input={(reason) => ({ instance_id: instance.id, ...(reason && { reason }) })}
      failed="The instance was not ended."
      command={`instances ${how} ${instance.id}`}
      onClose={onClose}
    >
      <p className="mono font-medium">{instance.id}</p>
      <p>
        {what} {unsaved.data?.review && `The review ${unsaved.data.review} ends too.`}
      </p>
      {unsaved.data && <Unsaved instance={instance} unsaved={unsaved.data} />}
      {unsaved.error && <Problem what="The unsaved work could not be counted." error={unsaved.error} onRetry={() => void unsaved.refetch()} />}
      {!unsaved.data && !unsaved.error && <p className="skeleton h-16" role="status" aria-label="Counting unsaved work" />}
    </ConfirmDialog>
  );
}

function Unsaved({ instance, unsaved }: { instance: Instance; unsaved: ActionResult<'instances.unsaved'> }) {
  const { worktree, uncommitted, unpushed, kept_reason, backup_ref } = unsaved;
  if (worktree === 'gone' && kept_reason === null) return <p>The worktree was already removed.</p>;
  if (kept_reason === null) return <Notice tone="good">No unsaved work. The worktree and its branch are removed.</Notice>;
  return (
    <Notice tone="wait">
      <p className="font-medium">
        {counted(uncommitted, 'uncommitted file')}, {counted(unpushed, 'unpushed commit')}.
      </p>
      <p>
        The worktree is kept: <UntrustedText text={kept_reason} />.
      </p>
      <p className="mt-1">
        To remove it later, run <code>covenant instances clean {instance.id} --force</code>. Its content is backed up as <code>{backup_ref}</code>.
      </p>
    </Notice>
  );
}

const WAYS = {
  terminal: 'The message is typed into its terminal within seconds.',
  next_start: 'The agent receives it when it is started again.',
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
      failed="The message was not sent."
      onSubmit={() => send.mutate({ instance_id: id, message: words }, { onSuccess: sent })}
      onClose={onClose}
    >
      <p>
        {running && session_kind === 'tmux'
          ? 'The message is put into the agent’s inbox and typed into its terminal as one line.'
          : 'The message is put into the agent’s inbox. If the agent’s program has ended, the server starts it again with the message.'}{' '}
        The journal records that you sent a message, not its text.
      </p>
      <TextArea label="Message" value={message} onChange={setMessage} max={8_000} rows={4} first required />
      <CliCommand words={`instances message ${id}`} options={{ text: words || 'TEXT' }} />
    </FormDialog>
  );
}
