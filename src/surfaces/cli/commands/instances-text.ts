import type { AnswerTo, ItemOf } from '../call.ts';
import { age, type CliOutput, indented, list, oneLine, type TableShape } from '../output.ts';

type InstanceList = AnswerTo<'instances.list'>;
export type ListedInstance = ItemOf<'instances.list'>;
export type InstanceAnswer = AnswerTo<'instances.show'>;
type Ended = AnswerTo<'instances.stop'>;

const INSTANCES: TableShape = {
  head: ['INSTANCE', 'TYPE', 'STATUS', 'RUNS IN', 'REVIEWS', 'PR', 'REVIEW OF', 'ACTIVE', 'REPOSITORY'],
  narrow: [
    ['REPOSITORY', 12],
    ['REVIEW OF', 0],
    ['RUNS IN', 0],
    ['REVIEWS', 0],
    ['REPOSITORY', 0],
  ],
};

export function listLines({ items, total }: InstanceList, now: number, columns?: number): string {
  const rows = items.map((item) => [
    item.id,
    item.type,
    item.status,
    item.running ? (item.session_kind ?? '—') : '—',
    item.type === 'coding' ? `${item.reviews}/${item.max_reviews}` : '—',
    item.pr_number === null ? '—' : `#${item.pr_number}`,
    item.parent_instance_id ?? '—',
    age(item.last_activity, now),
    item.repository,
  ]);
  const none = 'No instances.\n    next: covenant instances start --repo . --type coding --issue 123';
  return list(INSTANCES, rows, { none, total, columns });
}

export function showLines(shown: InstanceAnswer, mark: CliOutput['mark'], now: number): string {
  const { instance, relationships, feedback, failures, attach } = shown;
  const lines = [
    `${instance.id}  ${instance.type}, ${instance.status}${instance.status_reason === null ? '' : `: ${oneLine(instance.status_reason).trim()}`}`,
    `  agent ${instance.agent}${instance.developer === null ? '' : ` for ${instance.developer}`}, ${runs(instance)}; started ${age(instance.created_at, now)} ago by ${instance.created_by}`,
    `  branch ${instance.branch} from ${instance.base_branch}, in ${instance.worktree_path}`,
    instance.kept_reason === null ? '' : `  the worktree was kept: ${oneLine(instance.kept_reason).trim()}`,
    instance.backup_ref === null ? '' : `  backup of the worktree: ${instance.backup_ref}`,
    instance.pr_url === null ? '' : `  pull request ${instance.pr_url}`,
    instance.type === 'coding'
      ? `  ${instance.reviews} of at most ${instance.max_reviews} reviews, ${instance.failed_reviews} of ${instance.max_failed_reviews} failed`
      : '',
    ...(instance.at_limit ? [`  ${mark.wait} at its review limit`, ...instance.suggestions.map((suggestion) => `      ${suggestion}`)] : []),
    ...relationships.map(
      ({ parent_instance, child_instance, review_iteration, outcome }) =>
        `  review ${review_iteration} of ${parent_instance}: ${child_instance}, ${outcome ?? 'in progress'}`,
    ),
    ...feedback.flatMap(feedbackLines),
    ...failures.map(
      ({ time, tool, code, request_id, branch, commit }) =>
        `  ${mark.bad} ${tool} failed ${age(time, now)} ago: ${code ?? 'no code'}, at ${commit === null ? branch : `${branch} ${commit.slice(0, 12)}`} (${request_id})`,
    ),
    attach === null ? '' : `    next: covenant instances attach ${instance.id}`,
  ];
  return lines.filter((line) => line !== '').join('\n');
}

const runs = ({ running, session_kind, session_name }: ListedInstance): string =>
  running ? (session_kind === 'tmux' ? `in the tmux session ${session_name}` : 'as a plain process') : 'not running';

const feedbackLines = ({
  review_instance_id,
  feedback_type,
  priority,
  feedback,
  actionable_items,
  delivered,
  reason,
}: InstanceAnswer['feedback'][number]): string[] => [
  `  ${review_instance_id} says ${feedback_type} (${priority})${delivered === 'message' ? `, delivered as a message: ${oneLine(reason ?? '').trim()}` : ''}`,
  indented(indented(feedback)),
  ...actionable_items.map((item) => `    - ${oneLine(item).trim()}`),
];

/** Reports what happened to the worktree, and where its contents are now. */
export function endedLines(ended: Ended, did: string, mark: CliOutput['mark']): string {
  const { instance, worktree, reason, backup_ref } = ended;
  const head = `${did} ${instance.id}. Its status is ${instance.status}.`;
  if (worktree === 'kept') {
    const next = `check ${instance.worktree_path}, then: covenant instances clean ${instance.id} --force (keeps a backup)`;
    return `${head}\n${mark.wait} Its worktree was kept: ${oneLine(reason ?? '').trim()}.\n    next: ${next}`;
  }
  return backup_ref === null ? `${head} Its worktree was removed.` : `${head} Its worktree was removed. To see the backup: git show ${backup_ref}`;
}

/** Returns the lines that a log has gained. `before` and `after` are the last lines of the log at two times, so they can overlap. */
export function newLines(before: readonly string[], after: readonly string[]): readonly string[] {
  for (let kept = Math.min(before.length, after.length); kept > 0; kept--) {
    const from = before.length - kept;
    if (after.slice(0, kept).every((line, index) => line === before[from + index])) return after.slice(kept);
  }
  return after;
}
