import type { Question } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { useToast } from '../../parts/toast.tsx';
import { AnswerForm } from '../team/answer-form.tsx';

/** The task waits for a person: whoever reads this may be the one. */
export function TaskQuestion({ question }: { question: Question }) {
  const say = useToast();
  return (
    <section aria-label="Question" className="panel grid gap-2 border-you p-3">
      <AnswerForm
        question={question}
        onAnswered={({ taskStatus }) => say(taskStatus === 'pending' ? 'Answered. The task waits for an agent.' : 'Answered. The task goes on.')}
      />
      <CliCommand words={`workflow answer ${question.question_id} 'Your answer'`} />
    </section>
  );
}
