import type { WorkflowDigest } from './contract.ts';
import { oneLine } from './cut.ts';

/** What agents wrote is text: on one line it can make no heading, and escaped no markup; nor does `@path` import a file, as in CLAUDE.md it would. */
const plain = (text: string): string => oneLine(text).replace(/[\\`*_[\]<>#|~@]/g, (mark) => `\\${mark}`);

/** A path or an address, letter by letter. */
const verbatim = (text: string): string => `\`${oneLine(text).replaceAll('`', "'")}\``;

type Of<K extends keyof WorkflowDigest> = WorkflowDigest[K] extends readonly (infer T)[] ? T : never;

const after = (text: string): string => (text === '' ? '' : `: ${plain(text)}`);

/** One line each, as a list has it. */
export const lines = {
  question: ({ id, question }: Of<'open_questions'>) => `- ${id}${after(question)}`,
  current: ({ id, name, status, agent_id, agent_name }: Of<'current'>) =>
    `- ${plain(name)} (${id}, ${status}${agent_id === null ? ', held by nobody' : `, held by ${plain(agent_name ?? '')} ${agent_id}`})`,
  next: ({ id, name }: Of<'next'>) => `- ${plain(name)} (${id})`,
  failed: ({ id, name, error }: Of<'failed'>) => `- ${plain(name)} (${id})${after(error)}`,
  recent: ({ id, name, outcome }: Of<'recent_outcomes'>) => `- ${plain(name)} (${id})${after(outcome)}`,
};

const section = (title: string, items: readonly string[]): string => (items.length === 0 ? '' : `\n## ${title}\n\n${items.join('\n')}\n`);

/** The summary as a short page. */
export function markdownOf(digest: WorkflowDigest): string {
  const { total, by_status } = digest.progress;
  const counted = Object.entries(by_status).filter(([, count]) => count > 0);
  const source = digest.source_ref === null ? digest.source_type : `${digest.source_type} ${verbatim(digest.source_ref)}`;
  return [
    `# ${plain(digest.name)}\n\n`,
    `- Workflow ${digest.id}: ${digest.status}\n`,
    `- Source: ${source}\n`,
    `- Repository: ${verbatim(digest.repository_path)}\n`,
    `- Tasks: ${total}${counted.length === 0 ? '' : ` (${counted.map(([status, count]) => `${count} ${status}`).join(', ')})`}\n`,
    digest.plan_summary ? `\n## Plan\n\n${plain(digest.plan_summary)}\n` : '',
    section('Waiting for a person', digest.open_questions.map(lines.question)),
    section('In progress', digest.current.map(lines.current)),
    section('Next', digest.next.map(lines.next)),
    section('Failed', digest.failed.map(lines.failed)),
    section('Last completed', digest.recent_outcomes.map(lines.recent)),
  ].join('');
}
