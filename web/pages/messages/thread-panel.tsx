import { type SubmitEvent, useState } from 'react';
import type { ShownThread, Thread } from '../../api.ts';
import { useByClock } from '../../live/clock.ts';
import { ActButton } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import type { FactValues } from '../../parts/facts.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Problem, Section, State } from '../../parts/layout.tsx';
import { ReadPanel } from '../../parts/side-panel.tsx';
import { useToast } from '../../parts/toast.tsx';
import { AgentName, counted, Id, PathLink, shortId, Time, Until, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';
import { Due, ReceiptSteps } from './receipts.tsx';
import { HIDDEN, kindOf, toneOf } from './status.ts';

export function ThreadPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useRead('messages.thread', { id });
  const { data } = query;
  return (
    <ReadPanel
      what="The thread"
      title={data ? (data.thread.subject ?? HIDDEN) : 'Thread'}
      query={query}
      value={data}
      head={({ thread }) => <ReceiptSteps thread={thread} />}
      facts={factsOf}
      onClose={onClose}
    >
      {({ thread, entries, entries_cut, recipients, remindable_from }) => (
        <>
          <Section title="Conversation">
            {entries_cut > 0 && <p className="text-muted">{counted(entries_cut, 'earlier message')} not shown.</p>}
            <ol className="grid gap-2">
              {entries.map((entry) => (
                <li key={entry.id} className={entry.what === 'reminder' ? 'px-3 text-muted' : 'panel grid gap-1 px-3 py-2'}>
                  {entry.what === 'reminder' ? <Reminder entry={entry} /> : <MessageEntry entry={entry} />}
                </li>
              ))}
            </ol>
          </Section>
          {recipients.length > 0 && (
            <Section title="Recipients" about={counted(thread.recipients, 'agent')}>
              <Recipients recipients={recipients} of={thread.recipients} />
            </Section>
          )}
          {thread.answerable && <Answer thread={thread} />}
          {!thread.answerable && remindable_from !== null && <Remind thread={thread} from={remindable_from} />}
        </>
      )}
    </ReadPanel>
  );
}

/** Returns the state and participants of a thread and links to what it is about. */
function factsOf({ thread, about }: ShownThread): FactValues {
  const { repo, branch, paths, task_ids, claim_ids, context_id, workflow_id, workflow_task_id } = about;
  return {
    State: <State tone={toneOf(thread)}>{thread.status}</State>,
    Kind: kindOf(thread),
    From: <AgentName name={thread.from.name} id={thread.from.agent_id} brief={false} />,
    To: thread.recipients > 1 ? counted(thread.recipients, 'agent') : <AgentName name={thread.to.name} id={thread.to.agent_id} brief={false} />,
    Due: thread.due_at !== null && <Due thread={thread} />,
    Priority: thread.priority !== null && thread.priority !== 'normal' && thread.priority,
    Sent: <Time at={thread.sent_at} />,
    Repository: repo !== null && <UntrustedText text={repo} />,
    Branch: branch !== null && <UntrustedText text={branch} />,
    Paths: paths.length > 0 && <UntrustedText text={paths.join('\n')} className="mono" />,
    Tasks: task_ids.length > 0 && <Ids ids={task_ids} to={(id) => `/tasks?task=${id}`} />,
    Claims: claim_ids.length > 0 && <Ids ids={claim_ids} to={(id) => `/tasks/claims?claim=${id}`} />,
    Context: context_id !== null && <Id id={context_id} />,
    Workflow: workflow_id !== null && (
      <PathLink path={`/workflows/${workflow_id}${workflow_task_id === null ? '' : `?task=${workflow_task_id}`}`} className="link">
        {workflow_task_id === null ? 'Open workflow' : 'Open task'}
      </PathLink>
    ),
    Id: <Id id={thread.id} />,
  };
}

function Ids({ ids, to }: { ids: readonly string[]; to: (id: string) => string }) {
  return (
    <span className="flex flex-wrap gap-x-3">
      {ids.map((id) => (
        <PathLink key={id} path={to(id)} className="link mono">
          {shortId(id)}
        </PathLink>
      ))}
    </span>
  );
}

type Entry = ShownThread['entries'][number];

const reached = ({ delivered_at, read_at }: Pick<Entry, 'delivered_at' | 'read_at'>): string =>
  read_at !== null ? 'read' : delivered_at !== null ? 'delivered' : 'sent';

function MessageEntry({ entry }: { entry: Entry }) {
  const { from, to, at, text, what } = entry;
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-2 text-label text-muted">
        <span className="font-medium text-text">
          <AgentName name={from.name} id={from.agent_id} brief={false} />
        </span>
        {to && (
          <span>
            {what === 'answer' ? 'answers ' : 'to '}
            <AgentName name={to.name} id={to.agent_id} brief={false} />
          </span>
        )}
        <span className="ml-auto">
          {reached(entry)} · <Time at={at} />
        </span>
      </p>
      <div>{text === null ? <em className="text-muted">{HIDDEN}</em> : <UntrustedText text={text} />}</div>
    </>
  );
}

function Reminder({ entry: { from, at } }: { entry: Entry }) {
  return (
    <p className="text-label">
      <span aria-hidden="true">↻ </span>
      <UntrustedText text={from.name} /> sent a reminder · <Time at={at} />
    </p>
  );
}

/** The recipients of a broadcast, and who has read it. */
function Recipients({ recipients, of }: { recipients: ShownThread['recipients']; of: number }) {
  return (
    <>
      <ul className="panel divide-y divide-line">
        {recipients.map((recipient, index) => {
          const at = recipient.read_at ?? recipient.delivered_at;
          return (
            // The name cannot be the key, because all agents of private developers have the same name.
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of the recipients never changes
            <li key={index} className="flex flex-wrap items-center gap-x-3 px-3 py-1.5">
              <span className="min-w-0 flex-1">
                <AgentName name={recipient.to.name} id={recipient.to.agent_id} />
              </span>
              <span className="text-label text-muted">{at !== null && <Time at={at} />}</span>
              <State tone={at !== null ? 'live' : 'quiet'}>{reached(recipient)}</State>
            </li>
          );
        })}
      </ul>
      {of > recipients.length && (
        <p className="text-muted">
          First {recipients.length} of {of}.
        </p>
      )}
    </>
  );
}

/** The longest answer that the server accepts. */
const MAX_LENGTHS: Record<string, number> = { ask: 4_000, question: 20_000 };

function whatHappensNext(taskStatus: string | null): string {
  if (taskStatus === null) return 'The sender receives it when it next reads its messages.';
  // If the task is pending, the agent that asked the question does not hold the task anymore.
  return taskStatus === 'pending' ? 'The task is open for any agent to claim.' : 'The task continues.';
}

function Answer({ thread }: { thread: Thread }) {
  const answer = useAct('messages.answer');
  const say = useToast();
  const [text, setText] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const panel = event.currentTarget.closest('dialog');
    // The promise is used instead of onSuccess, because an event may remove this form before onSuccess runs.
    answer.mutateAsync({ id: thread.id, answer: text.trim() }).then(
      ({ task_status }) => {
        // The form disappears, so move the focus to the panel.
        panel?.focus();
        say(`Answered. ${whatHappensNext(task_status)}`);
      },
      () => {},
    );
  };
  return (
    <form onSubmit={submit} className="grid gap-2">
      <TextArea label="Your answer" hint="only the first answer counts" value={text} onChange={setText} max={MAX_LENGTHS[thread.kind]} />
      <div className="flex flex-wrap justify-end gap-2">
        <ActButton type="submit" look="primary" pending={answer.isPending} disabled={!text.trim()}>
          Answer
        </ActButton>
      </div>
      {answer.error && <Problem what="The answer was not sent." error={answer.error} />}
      <CliCommand words={`messages answer ${thread.id}`} text={text.trim() || 'TEXT'} />
    </form>
  );
}

/** A button that reminds the recipients. The server decides when another reminder is allowed. */
function Remind({ thread, from }: { thread: Thread; from: number }) {
  const remind = useAct('messages.remind');
  const say = useToast();
  const soon = useByClock((now) => now < from);
  const act = (): void =>
    remind.mutate(
      { id: thread.id },
      { onSuccess: ({ told }) => say(told === 0 ? 'Reminded. The recipient sees it on the dashboard.' : `Reminded ${counted(told, 'agent')}.`) },
    );
  return (
    <div className="grid gap-2">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <ActButton pending={remind.isPending} disabled={soon} onClick={act}>
          Remind
        </ActButton>
        <span className="text-muted">
          {soon ? (
            <>
              Possible again <Until at={from} />.
            </>
          ) : (
            'Sends a reminder to the recipients.'
          )}
        </span>
      </p>
      {remind.error && <Problem what="The reminder was not sent." error={remind.error} />}
      <CliCommand words={`messages remind ${thread.id}`} />
    </div>
  );
}
