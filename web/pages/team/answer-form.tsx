import { type SubmitEvent, useId, useState } from 'react';
import type { Question, ShownThread } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Problem, Scrolled, State, type Tone } from '../../parts/layout.tsx';
import { AgentName, Id, PathLink, Time, Until, UntrustedText } from '../../parts/values.tsx';
import { useAct } from '../../queries.ts';

const TONES: Record<Question['priority'], Tone> = { low: 'quiet', normal: 'you', high: 'wait', urgent: 'bad' };

const MAX_LENGTH = 20_000;

interface AnswerFormProps {
  question: Question;
  /** Called with the new status of the task that was waiting for the answer, or with null if no task was waiting. */
  onAnswered: (taskStatus: string | null) => void;
}

/** The form to answer a question that an agent has asked. */
export function AnswerForm({ question, onAnswered }: AnswerFormProps) {
  const answer = useAct('questions.answer');
  const [text, setText] = useState('');
  const field = useId();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    // The promise is used instead of onSuccess, because an event may remove this form before onSuccess runs.
    answer.mutateAsync({ question_id: question.question_id, answer: text.trim() }).then(
      ({ task_status }) => onAnswered(task_status),
      () => {},
    );
  };
  return (
    <form onSubmit={submit} className="grid gap-2">
      <p className="flex flex-wrap items-center gap-x-2 text-muted">
        <State tone={TONES[question.priority]}>{question.priority}</State>
        <UntrustedText text={question.agent_name ?? question.agent_id} />
        <span className="ml-auto flex flex-wrap gap-x-2">
          <Time at={question.asked_at} />
          <Id id={question.question_id} />
        </span>
      </p>
      <div className="grid gap-1">
        {question.subject && (
          <p className="font-medium">
            <UntrustedText text={question.subject} />
          </p>
        )}
        <Scrolled label="The question" className="max-h-64">
          <UntrustedText text={question.question} />
        </Scrolled>
        <About question={question} />
      </div>
      <div className="grid items-end gap-2 sm:grid-cols-[minmax(0,1fr)_auto]">
        <label htmlFor={field} className="sr-only">
          Your answer
        </label>
        <textarea
          id={field}
          className="field py-1.5"
          rows={2}
          maxLength={MAX_LENGTH}
          placeholder="Your answer"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <ActButton type="submit" look="primary" pending={answer.isPending} disabled={!text.trim()}>
          Answer
        </ActButton>
      </div>
      {answer.error && <Problem what="The question was not answered." error={answer.error} />}
    </form>
  );
}

/** Shows which task and workflow are waiting for the answer. */
function About({ question: { task_name, workflow_name, expires_at } }: { question: Question }) {
  const work = [task_name, workflow_name].filter((name) => name !== null).join(' · ');
  if (!work && expires_at === null) return null;
  return (
    <p className="text-muted">
      {work && <UntrustedText text={work} />}
      {work && expires_at !== null && ' · '}
      {expires_at !== null && (
        <>
          expires <Until at={expires_at} />
        </>
      )}
    </p>
  );
}

/** The form to answer an ask that was sent to the signed-in person. */
export function AskForm({ ask: { thread, entries }, onAnswered }: { ask: ShownThread; onAnswered: () => void }) {
  const answer = useAct('messages.answer');
  const [text, setText] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    // The promise is used for the same reason as in `AnswerForm`.
    answer.mutateAsync({ id: thread.id, answer: text.trim() }).then(onAnswered, () => {});
  };
  return (
    <form onSubmit={submit} className="grid gap-3">
      <p className="flex flex-wrap items-center gap-x-2 text-muted">
        <AgentName name={thread.from.name} id={thread.from.agent_id} brief={false} />
        <Time at={thread.sent_at} />
        {thread.due_at !== null && (
          <span>
            due <Until at={thread.due_at} />
          </span>
        )}
        <span className="ml-auto">
          <Id id={thread.id} />
        </span>
      </p>
      <Scrolled label="The ask" className="max-h-64">
        <UntrustedText text={entries[0]?.text ?? ''} />
      </Scrolled>
      <TextArea label="Your answer" value={text} onChange={setText} max={MAX_LENGTH} rows={4} />
      {answer.error && <Problem what="The ask was not answered." error={answer.error} />}
      {text.trim() && <CliCommand words={`messages answer ${thread.id}`} text={text.trim()} />}
      <div className="flex flex-wrap items-center justify-between gap-2">
        <PathLink path={`/messages?message=${thread.id}`} className="link">
          Open in Messages
        </PathLink>
        <ActButton type="submit" look="primary" pending={answer.isPending} disabled={!text.trim()}>
          Answer
        </ActButton>
      </div>
    </form>
  );
}
