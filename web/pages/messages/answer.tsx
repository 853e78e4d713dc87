import { type SubmitEvent, useState } from 'react';
import type { Thread } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct } from '../../queries.ts';

/** As long as the server takes it. */
const MAX_ITEMS: Record<string, number> = { ask: 4_000, question: 20_000 };

function whatNow(taskStatus: string | null): string {
  if (taskStatus === null) return 'It reaches whoever asked with their next look.';
  // Its agent has gone meanwhile.
  return taskStatus === 'pending' ? 'The task waits for an agent to take it up.' : 'The task goes on.';
}

export function Answer({ thread }: { thread: Thread }) {
  const answer = useAct('messages.answer');
  const say = useToast();
  const [text, setText] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const panel = event.currentTarget.closest('dialog');
    // By the promise: the journal may have taken this form off the page before the answer is here.
    answer.mutateAsync({ id: thread.id, answer: text.trim() }).then(
      ({ task_status }) => {
        // The form goes, and the focus would go with it.
        panel?.focus();
        say(`Answered. ${whatNow(task_status)}`);
      },
      () => {},
    );
  };
  return (
    <form onSubmit={submit} className="grid gap-2">
      <TextArea label="Your answer" hint="the first answer counts" value={text} onChange={setText} most={MAX_ITEMS[thread.kind]} />
      <div className="flex flex-wrap justify-end gap-2">
        <ActButton type="submit" look="primary" pending={answer.isPending} disabled={!text.trim()}>
          Answer
        </ActButton>
      </div>
      {answer.error && <Problem what="It was not answered." error={answer.error} />}
      <CliCommand words={`messages answer ${thread.id}`} text={text.trim() || 'TEXT'} />
    </form>
  );
}
