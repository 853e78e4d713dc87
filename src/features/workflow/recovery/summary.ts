import type { Principal } from '../../../kernel/context.ts';
import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import { planOf, type WorkflowRow } from '../workflows/index.ts';
import type { Tokenizer } from './bpe.ts';
import type { getSummary, WorkflowDigest } from './contract.ts';
import { brief, oneLine } from './cut.ts';
import { type Digest, digest } from './digest.ts';
import { lines, markdownOf } from './markdown.ts';
import { pack } from './pack.ts';
import { type ContextPart, entryOf, listPart, textPart } from './parts.ts';
import { Turns } from './turns.ts';

export interface SummaryAsked {
  readonly workflow: WorkflowRow;
  readonly viewer: Principal;
  readonly format: 'json' | 'markdown';
  readonly max: number;
}

const CHARACTERS = 300;
const short = (text: string | null): string => brief(oneLine(text ?? ''), CHARACTERS);

export async function summaryOf(db: Db, asked: SummaryAsked, tokens: Tokenizer): Promise<Output<typeof getSummary>> {
  return await packSummary(asked, await digest(db, asked.workflow, asked.viewer), tokens);
}

export async function packSummary(
  { workflow, format, max }: Omit<SummaryAsked, 'viewer'>,
  found: Digest,
  tokens: Tokenizer,
): Promise<Output<typeof getSummary>> {
  /** A list of which each entry has one text that can be left out. */
  const list = <T>(section: string, items: readonly T[], line: (item: T) => string, withoutText: (item: T) => T): ContextPart<T[]> => {
    const size = (item: T): number => tokens.count(format === 'markdown' ? `${line(item)}\n` : `${JSON.stringify(item)},`);
    const entries = items.map((whole) => {
      const bare = withoutText(whole);
      return entryOf(size, whole, JSON.stringify(bare) === JSON.stringify(whole) ? whole : bare);
    });
    return listPart({ section, detail: `${section}_text`, entries, total: items.length, wholeFirst: 5, max });
  };
  const { result, size } = await pack({
    sections: {
      plan: { weight: 20, turn: 6 },
      questions: { weight: 15, turn: 2 },
      current: { weight: 25, turn: 1 },
      next: { weight: 10, turn: 4 },
      failed: { weight: 15, turn: 3 },
      recent: { weight: 15, turn: 5 },
    },
    parts: {
      plan: { section: 'plan', weight: 1, turn: 1, part: textPart('plan_summary', planOf(workflow)?.summary ?? '', tokens, max) },
      questions: {
        section: 'questions',
        weight: 1,
        turn: 1,
        part: list(
          'open_questions',
          found.questions.map(({ id, task_id, subject, body }) => ({ id, task_id, question: short(questionText(subject, body)) })),
          lines.question,
          (item) => ({ ...item, question: '' }),
        ),
      },
      current: { section: 'current', weight: 1, turn: 1, part: list('current', found.current, lines.current, (item) => item) },
      next: { section: 'next', weight: 1, turn: 1, part: list('next', found.next, lines.next, (item) => item) },
      failed: {
        section: 'failed',
        weight: 1,
        turn: 1,
        part: list(
          'failed',
          found.failed.map(({ id, name, error }) => ({ id, name, error: short(error) })),
          lines.failed,
          (item) => ({ ...item, error: '' }),
        ),
      },
      recent: {
        section: 'recent',
        weight: 1,
        turn: 1,
        part: list(
          'recent_outcomes',
          found.recent.map(({ id, name, outcome }) => ({ id, name, outcome: short(outcome) })),
          lines.recent,
          (item) => ({ ...item, outcome: '' }),
        ),
      },
    },
    max,
    turns: new Turns(),
    assemble: (filled, omitted) => {
      const told: WorkflowDigest = {
        id: workflow.id,
        name: workflow.name,
        status: workflow.status,
        source_type: workflow.source_type,
        source_ref: workflow.source_ref,
        repository_path: workflow.repository_path,
        plan_summary: workflow.plan === null ? null : filled.plan,
        progress: { total: Object.values(found.byStatus).reduce((sum, count) => sum + count, 0), by_status: found.byStatus },
        open_questions: filled.questions,
        current: filled.current,
        next: filled.next,
        blocked: found.byStatus.blocked,
        failed: filled.failed,
        recent_outcomes: filled.recent,
      };
      return { summary: format === 'markdown' ? markdownOf(told) : told, omitted };
    },
    measure: ({ summary }) => tokens.count(typeof summary === 'string' ? summary : JSON.stringify(summary)),
  });
  return { summary: result.summary, token_estimate: size, omitted: result.omitted };
}

function questionText(subject: string | null, body: string): string {
  const asked: unknown = JSON.parse(body);
  const text = typeof asked === 'string' ? asked : JSON.stringify(asked);
  return subject === null ? text : `${subject}: ${text}`;
}
