import type { Principal } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { TimeSlice } from '../../../kernel/time-slice.ts';
import type { Db } from '../../../storage/engine.ts';
import { planOf, type WorkflowRow } from '../workflows/index.ts';
import type { getSummary, WorkflowDigest } from './contract.ts';
import { brief, oneLine } from './cut.ts';
import { type Digest, readDigest } from './digest.ts';
import { pack } from './pack.ts';
import { entryOf, listPart, textPart } from './parts.ts';
import { lines, markdownOf } from './summary-markdown.ts';
import type { Tokenizer } from './tokens.ts';

interface SummaryRequest {
  readonly workflow: WorkflowRow;
  readonly viewer: Principal;
  readonly format: 'json' | 'markdown';
  readonly max: number;
}

const CHARACTERS = 300;
const short = (text: string | null): string => brief(oneLine(text ?? ''), CHARACTERS);

export async function summaryOf(db: Db, asked: SummaryRequest, tokens: Tokenizer): Promise<Output<typeof getSummary>> {
  return await packSummary(asked, await readDigest(db, asked.workflow, asked.viewer), tokens);
}

async function packSummary({ workflow, format, max }: Omit<SummaryRequest, 'viewer'>, found: Digest, tokens: Tokenizer): Promise<Output<typeof getSummary>> {
  /** Creates a section that consists of one list. In each entry of the list, one text can be left out. */
  const list = <S extends string, T>(section: S, field: string, items: readonly T[], line: (item: T) => string, withoutText: (item: T) => T) => {
    const size = (item: T): number => tokens.count(format === 'markdown' ? `${line(item)}\n` : `${JSON.stringify(item)},`);
    const entries = items.map((whole) => {
      const bare = withoutText(whole);
      return entryOf(size, whole, JSON.stringify(bare) === JSON.stringify(whole) ? whole : bare);
    });
    return { section, weight: 1, turn: 1, part: listPart({ section: field, detail: `${field}_text`, entries, total: items.length, wholeFirst: 5, max }) };
  };
  const questions = found.questions.map(({ id, task_id, subject, body }) => ({ id, task_id, question: short(questionText(subject, body)) }));
  const failed = found.failed.map(({ id, name, error }) => ({ id, name, error: short(error) }));
  const recent = found.recent.map(({ id, name, outcome }) => ({ id, name, outcome: short(outcome) }));
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
      questions: list('questions', 'open_questions', questions, lines.question, (item) => ({ ...item, question: '' })),
      current: list('current', 'current', found.current, lines.current, (item) => item),
      next: list('next', 'next', found.next, lines.next, (item) => item),
      failed: list('failed', 'failed', failed, lines.failed, (item) => ({ ...item, error: '' })),
      recent: list('recent', 'recent_outcomes', recent, lines.recent, (item) => ({ ...item, outcome: '' })),
    },
    max,
    slice: new TimeSlice(),
    assemble: (filled, omitted) => {
      const content: WorkflowDigest = {
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
      return { summary: format === 'markdown' ? markdownOf(content) : content, omitted };
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
