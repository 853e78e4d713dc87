import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { ShownWorkflowTask } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { counted } from '../../parts/count.ts';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct } from '../../queries.ts';
import { isEnded } from './status.ts';

type Asked = 'skip' | 'release';

/** What a person may do with one task: nothing while it goes its way. */
export function TaskActions({ shown }: { shown: ShownWorkflowTask }) {
  const { task, claim, workflow } = shown;
  const [asked, setAsked] = useState<Asked>();
  const retry = useAct('workflows.retry');
  const say = useToast();
  const failed = task.status === 'failed' && !isEnded(workflow.status);
  const actions = useRef<HTMLDivElement>(null);
  // The button that was pressed has gone with what it did.
  const done = (words: string): void => {
    flushSync(() => setAsked(undefined));
    actions.current?.focus();
    say(words);
  };
  return (
    // Where there is nothing to do it takes no room, and still keeps the focus of what was done.
    <div ref={actions} tabIndex={-1} className="grid gap-2 outline-none empty:-mt-5">
      {(failed || claim) && (
        <div className="flex flex-wrap gap-2">
          {failed && (
            <ActButton
              look="primary"
              needs="operator"
              pending={retry.isPending}
              onClick={() => retry.mutate({ task_id: task.id }, { onSuccess: () => done('The task can be taken up again.') })}
            >
              Retry
            </ActButton>
          )}
          {failed && (
            <ActButton look="bad" needs="operator" onClick={() => setAsked('skip')}>
              Skip…
            </ActButton>
          )}
          {claim && (
            <ActButton look="bad" needs="operator" onClick={() => setAsked('release')}>
              Release…
            </ActButton>
          )}
        </div>
      )}
      {retry.error && <Problem what="The task was not set back." error={retry.error} />}
      {failed && <CliCommand words={`workflow retry ${task.id}`} />}
      {asked && <Ask asked={asked} shown={shown} onClose={() => setAsked(undefined)} onDone={done} />}
    </div>
  );
}

const WORDS: Record<Asked, { title: string; act: string; keep: string; failed: string; done: string }> = {
  skip: { title: 'Skip this task?', act: 'Skip', keep: 'Keep it', failed: 'The task was not skipped.', done: 'Skipped. What waited for it waits no longer.' },
  release: {
    title: 'Take this task from its agent?',
    act: 'Release',
    keep: 'Leave it',
    failed: 'The task was not released.',
    done: 'Released: another agent can take it up.',
  },
};

interface AskProps {
  asked: Asked;
  shown: ShownWorkflowTask;
  onClose: () => void;
  onDone: (words: string) => void;
}

function Ask({ asked, shown, onClose, onDone }: AskProps) {
  const act = useAct(`workflows.${asked}`);
  const [reason, setReason] = useState('');
  const { title, act: label, keep, failed, done } = WORDS[asked];
  const given = reason.trim();
  const { id } = shown.task;
  const submit = (): void => act.mutate({ task_id: id, ...(given && { reason: given }) }, { onSuccess: () => onDone(done) });
  return (
    <Confirm title={title} act={label} keep={keep} pending={act.isPending} error={act.error} failed={failed} onAct={submit} onClose={onClose}>
      <p className="font-medium">
        <UntrustedText text={shown.task.name} brief />
      </p>
      <Consequence asked={asked} shown={shown} />
      <Field label="Reason" hint="optional, on record">
        {(field) => <input id={field} className="field" maxLength={2_000} value={reason} onChange={({ target }) => setReason(target.value)} />}
      </Field>
      <CliCommand words={`workflow ${asked} ${id}`} options={{ reason: given }} />
    </Confirm>
  );
}

function Consequence({ asked, shown: { claim, dependents, dependents_more } }: { asked: Asked; shown: ShownWorkflowTask }) {
  if (asked === 'release') {
    return (
      <p>
        <UntrustedText text={claim?.agent_name ?? 'Its agent'} /> loses it at once: 1 task becomes claimable, and what that agent still writes to it is refused.
        Its checkpoints stay.
      </p>
    );
  }
  const waiting = dependents.length + dependents_more;
  return (
    <p>
      It is not done, and cannot be taken up again.{' '}
      {waiting === 0 ? 'Nothing waits for it.' : `${counted(waiting, 'task waits for it, and no longer does', 'tasks wait for it, and no longer do')}.`}
    </p>
  );
}
