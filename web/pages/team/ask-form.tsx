import { type SubmitEvent, useState } from 'react';
import type { AskToMe } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { AgentName } from '../../parts/agent-name.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Id } from '../../parts/id.tsx';
import { PathLink } from '../../parts/path-link.tsx';
import { Problem } from '../../parts/problem.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { Scrolled } from '../../parts/scrolled.tsx';
import { dateOf, Time } from '../../parts/time.tsx';
import { useAct } from '../../queries.ts';

const MAX_ITEMS = 20_000;

export function AskForm({ ask, onAnswered }: { ask: AskToMe; onAnswered: () => void }) {
  const answer = useAct('messages.answer');
  const [text, setText] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    // By the promise: the journal may have taken this form off the page before the answer is here.
    answer.mutateAsync({ id: ask.id, answer: text.trim() }).then(onAnswered, () => {});
  };
  return (
    <form onSubmit={submit} className="grid gap-3">
      <p className="flex flex-wrap items-center gap-x-2 text-muted">
        <AgentName name={ask.from.name} id={ask.from.agent_id} brief={false} />
        <Time at={ask.since} />
        {ask.deadline !== null && `until ${dateOf(ask.deadline)}`}
        <span className="ml-auto">
          <Id id={ask.id} />
        </span>
      </p>
      <Scrolled label="The ask" className="max-h-64">
        <UntrustedText text={ask.text} />
      </Scrolled>
      <TextArea label="Your answer" value={text} onChange={setText} most={MAX_ITEMS} rows={4} />
      {answer.error && <Problem what="The ask was not answered." error={answer.error} />}
      {text.trim() && <CliCommand words={`messages answer ${ask.id}`} text={text.trim()} />}
      <div className="flex flex-wrap items-center justify-between gap-2">
        <PathLink path={`/messages?message=${ask.id}`} className="link">
          Open it among the messages
        </PathLink>
        <ActButton type="submit" look="primary" pending={answer.isPending} disabled={!text.trim()}>
          Answer
        </ActButton>
      </div>
    </form>
  );
}
