import { useState } from 'react';
import type { Question } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { Section } from '../../parts/section.tsx';
import { Notice } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { type Answered, AnswerForm } from './answer-form.tsx';

/** A question expires by time alone. */
const LOOK_MS = 30_000;

function whatNow({ taskStatus }: Answered): string {
  if (taskStatus === null) return 'The agent gets it as a message.';
  // Its agent has gone meanwhile.
  return taskStatus === 'pending' ? 'The task waits for an agent to take it up.' : 'The task goes on.';
}

/** What agents ask the people of the team. Not there while nobody asks. */
export function Questions() {
  const { data, error, refetch } = useRead('questions.list', {}, { everyMs: LOOK_MS });
  const [answered, setAnswered] = useState<Answered>();
  const open: readonly Question[] = data?.items ?? [];
  if (!error && open.length === 0 && !answered) return null;
  return (
    <Section title="Questions for you" about={open.length > 0 && `${data?.cut ? 'more than ' : ''}${counted(open.length, 'open question')}`}>
      {error && <Problem what="The questions could not be read." error={error} onRetry={() => void refetch()} />}
      {answered && (
        <Notice key={answered.id} tone="good" role="status">
          {`Answered. ${whatNow(answered)}`}
        </Notice>
      )}
      {open.length > 0 && (
        <ul className="panel divide-y divide-line">
          {open.map((question) => (
            <li key={question.question_id} className="px-3 py-2.5">
              <AnswerForm question={question} onAnswered={setAnswered} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
