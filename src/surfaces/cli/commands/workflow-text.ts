import type { listQuestions } from '../../../features/workflow/messages/contract.ts';
import type { workflowsShow } from '../../../features/workflow/oversight/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { age } from '../output.ts';

type Shown = Output<typeof workflowsShow>;
type Question = Output<typeof listQuestions>['items'][number];

const listed = (title: string, lines: readonly string[]): string => (lines.length === 0 ? '' : `\n${title}\n${lines.map((line) => `  ${line}`).join('\n')}`);

export function workflowLines({ workflow, progress, next }: Shown): string {
  const counts = Object.entries(progress.by_status).flatMap(([status, count]) => (count > 0 ? [`${count} ${status}`] : []));
  return [
    `${workflow.name} (${workflow.id})`,
    `${workflow.status}${workflow.status_reason ? `: ${workflow.status_reason.replaceAll(/\s+/g, ' ')}` : ''}, in ${workflow.repository_path}`,
    progress.total_tasks === 0
      ? 'It has no plan yet.'
      : `${progress.total_tasks} tasks: ${counts.join(', ')}; at step ${progress.current_sequence}, at most ${workflow.max_parallel_tasks} at once`,
    listed(
      'Next',
      next.tasks.map(({ id, name, status }) => `${id}  ${name}${status === 'failed' ? ' (failed)' : ''}`),
    ),
    listed(
      'Blocked',
      progress.blocked_tasks.map(({ id, name, blocked_by }) => `${id}  ${name}: waits for ${blocked_by.join(', ')}`),
    ),
  ]
    .filter(Boolean)
    .join('\n');
}

export const claimLines = (claims: Shown['claims'], now: number): string =>
  listed(
    'Claimed',
    claims.map(
      ({ task_id, task_name, status, agent_id, agent_name, claimed_at, question_id }) =>
        `${task_id}  ${task_name}: ${status}, by ${agent_name} (${agent_id}), claimed ${age(claimed_at, now)}${question_id ? `, waits for the answer to ${question_id}` : ''}`,
    ),
  );

/** A question in full: whoever answers it must have read it. */
const questionText = (item: Question): string => {
  const work = [item.task_name && `task ${item.task_name}`, item.workflow_name && `workflow ${item.workflow_name}`].filter(Boolean);
  return [item.subject, item.question, `for ${work.length > 0 ? work.join(', ') : 'no task'}`, item.answer === null ? '' : `answer: ${item.answer}`]
    .filter(Boolean)
    .join('\n')
    .replaceAll(/^/gm, '  ');
};

export function questionLines(items: readonly Question[], now: number): string {
  return items
    .map((item) => `${item.question_id}  ${item.priority}  ${item.agent_name ?? item.agent_id}  asked ${age(item.asked_at, now)}\n${questionText(item)}`)
    .join('\n\n');
}
