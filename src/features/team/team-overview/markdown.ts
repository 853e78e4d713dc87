import type { SummaryData } from './contract.ts';

/** What agents wrote is text, not markup. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#|~]/g, (mark) => `\\${mark}`);

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

const MAX_LINES = 50;

function section(title: string, lines: readonly string[]): string {
  const more = lines.length > MAX_LINES ? [`- … and ${lines.length - MAX_LINES} more`] : [];
  const shown = lines.slice(0, MAX_LINES).map((line) => `- ${line}`);
  return `## ${title} (${lines.length})\n\n${lines.length === 0 ? 'None.' : [...shown, ...more].join('\n')}\n`;
}

/** The week for people to read and pass on. */
export function markdownOf(data: Omit<SummaryData, 'markdown'>): string {
  const work = ({ title, owner, status }: SummaryData['active'][number]) => `${plain(title)} (${plain(owner)}${status === 'blocked' ? ', blocked' : ''})`;
  const note = ({ title, developer, body }: SummaryData['blockers'][number]) =>
    `${plain(title)} (${plain(developer)})${body ? `: ${plain(body.slice(0, 300))}` : ''}`;
  return [
    `# Week of ${day(data.from)} to ${day(data.to)}\n`,
    section(
      'Completed',
      data.completed.map(
        ({ title, owner, result_summary }) => `${plain(title)} (${plain(owner)})${result_summary ? `: ${plain(result_summary.slice(0, 300))}` : ''}`,
      ),
    ),
    section('Active', data.active.map(work)),
    section('Planned', data.planned.map(work)),
    section('Blockers', data.blockers.map(note)),
    section('Decisions', data.decisions.map(note)),
    section(
      'Overlap warnings',
      data.overlap_warnings.map(({ title, id, owner, outcome }) => `${plain(title ?? id)} (${plain(owner)}): ${outcome}`),
    ),
    section(
      'Parallel audits',
      data.parallel_audits.map(({ owner, compared, conflicts, time }) => `${day(time)}, by ${plain(owner)}: ${compared} compared, ${conflicts} in conflict`),
    ),
    section(
      'Agent sessions',
      data.agent_sessions.map(
        ({ developer, agent_type, agent_name, state, started_at }) =>
          `${plain(agent_name ?? agent_type ?? 'agent')} of ${plain(developer)}, ${day(started_at)}: ${state}`,
      ),
    ),
    `## Usage\n\n${usageLine(data.usage)}\n`,
  ].join('\n');
}

/** A price that is not known is said to be so, never counted as nothing. */
function usageLine({ spans, total_tokens, cost_usd, unpriced }: SummaryData['usage']): string {
  if (spans === 0) return 'None reported.';
  const cost = cost_usd === null ? 'cost unknown' : `${cost_usd.toFixed(2)} USD${unpriced > 0 ? ` and ${unpriced} reports without a known price` : ''}`;
  return `${total_tokens.toLocaleString('en')} tokens in ${spans} reports, ${cost}.`;
}
