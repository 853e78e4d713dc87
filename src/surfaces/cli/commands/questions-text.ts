import type { ItemOf } from '../call.ts';
import { age, indented } from '../output.ts';

type Question = ItemOf<'questions.list'>;

/** Shows the whole question, so that nobody answers a question that they have not read. */
export function questionLines(items: readonly Question[], now: number): string {
  return items
    .map((item) => `${item.question_id}  ${item.priority}  ${item.agent_name ?? item.agent_id}  asked ${age(item.asked_at, now)} ago\n${questionText(item)}`)
    .join('\n\n');
}

const questionText = (item: Question): string => {
  const work = [item.task_name && `task ${item.task_name}`, item.workflow_name && `workflow ${item.workflow_name}`].filter(Boolean);
  const lines = [item.subject, item.question, `for ${work.length > 0 ? work.join(', ') : 'no task'}`, item.answer === null ? '' : `answer: ${item.answer}`];
  return indented(lines.filter(Boolean).join('\n'));
};
