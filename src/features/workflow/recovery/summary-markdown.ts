import type { WorkflowDigest } from './contract.ts';
import { oneLine } from './cut.ts';

/** Formats the summary as a short Markdown page. */
export function markdownOf(digest: WorkflowDigest): string {
  const { total, by_status } = digest.progress;
  const counted = Object.entries(by_status).filter(([, count]) => count > 0);
  const source = digest.source_ref === null ? digest.source_type : `${digest.source_type} ${verbatim(digest.source_ref)}`;
  return [
    `# ${escapeMarkdown(digest.name)}\n\n`,
    `- Workflow ${digest.id}: ${digest.status}\n`,
    `- Source: ${source}\n`,
    `- Repository: ${verbatim(digest.repository_path)}\n`,
    `- Tasks: ${total}${counted.length === 0 ? '' : ` (${counted.map(([status, count]) => `${count} ${status}`).join(', ')})`}\n`,
    digest.plan_summary ? `\n## Plan\n\n${escapeMarkdown(digest.plan_summary)}\n` : '',
    section('Waiting for a person', digest.open_questions.map(lines.question)),
    section('In progress', digest.current.map(lines.current)),
    section('Next', digest.next.map(lines.next)),
    section('Failed', digest.failed.map(lines.failed)),
    section('Last completed', digest.recent_outcomes.map(lines.recent)),
  ].join('');
}

type Of<K extends keyof WorkflowDigest> = WorkflowDigest[K] extends readonly (infer T)[] ? T : never;

/** Formats one entry of each list. */
export const lines = {
  question: ({ id, question }: Of<'open_questions'>) => `- ${id}${after(question)}`,
  current: ({ id, name, status, agent_id, agent_name }: Of<'current'>) =>
    `- ${escapeMarkdown(name)} (${id}, ${status}${agent_id === null ? ', unclaimed' : `, held by ${escapeMarkdown(agent_name ?? '')} ${agent_id}`})`,
  next: ({ id, name }: Of<'next'>) => `- ${escapeMarkdown(name)} (${id})`,
  failed: ({ id, name, error }: Of<'failed'>) => `- ${escapeMarkdown(name)} (${id})${after(error)}`,
  recent: ({ id, name, outcome }: Of<'recent_outcomes'>) => `- ${escapeMarkdown(name)} (${id})${after(outcome)}`,
};

export const section = (title: string, items: readonly string[]): string => (items.length === 0 ? '' : `\n## ${title}\n\n${items.join('\n')}\n`);

/**
 * Puts text from agents on one line, so that it cannot contain headings. Escapes markup, and also `@path`, because this would import a file if the
 * page is saved as CLAUDE.md.
 */
const escapeMarkdown = (text: string): string => oneLine(text).replace(/[\\`*_[\]<>#|~@]/g, (mark) => `\\${mark}`);

/** Formats a path or an address as inline code, so that its characters need no escapes. */
const verbatim = (text: string): string => `\`${oneLine(text).replaceAll('`', "'")}\``;

const after = (text: string): string => (text === '' ? '' : `: ${escapeMarkdown(text)}`);
