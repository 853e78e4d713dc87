import type { Principal } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { countByStatus, isOneOf, OPEN_WORKFLOW, planOf, shownStatus, type WorkflowRow } from '../workflows/index.ts';
import type { getSummary, WorkflowDigest } from './contract.ts';
import { brief, oneLine } from './cut.ts';
import { pack, Turns } from './pack.ts';
import { type ContextPart, entryOf, listPart, textPart } from './parts.ts';
import type { Tokenizer } from './tokens.ts';

interface SummaryAsked {
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

async function packSummary({ workflow, format, max }: Omit<SummaryAsked, 'viewer'>, found: Digest, tokens: Tokenizer): Promise<Output<typeof getSummary>> {
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

/** A list of a summary is for orientation. How many there are in all stands in the progress. */
const MAX_ITEMS = { current: 50, next: 10, failed: 20, recent: 10, questions: 20 };

const ofWorkflow = (db: Db, { workspace_id, id }: WorkflowRow) =>
  db.selectFrom('workflow_tasks').where('workflow_tasks.workspace_id', '=', workspace_id).where('workflow_tasks.workflow_id', '=', id);

const TAKEN_UP = ['planning', 'in_progress', 'paused'] as const;

/** Where the workflow stands, as far as a summary tells of it; each list the most telling first. */
async function digest(db: Db, workflow: WorkflowRow, viewer: Principal) {
  return {
    byStatus: await countByStatus(db, workflow),
    questions: await openQuestions(db, workflow),
    current: await takenUp(db, workflow, viewer),
    next: isOneOf(OPEN_WORKFLOW, workflow.status) ? await freeTasks(db, workflow) : [],
    failed: await ended(db, workflow, 'failed', MAX_ITEMS.failed),
    recent: await ended(db, workflow, 'completed', MAX_ITEMS.recent),
  };
}
type Digest = Awaited<ReturnType<typeof digest>>;

/** The last heard of first. What a private developer calls an agent is theirs to know. */
async function takenUp(db: Db, workflow: WorkflowRow, viewer: Principal) {
  const { show } = await viewerOf(db, viewer);
  const rows = await ofWorkflow(db, workflow)
    .leftJoin('agents', (join) =>
      join.onRef('agents.workspace_id', '=', 'workflow_tasks.workspace_id').onRef('agents.id', '=', 'workflow_tasks.assigned_agent_id'),
    )
    .select(['workflow_tasks.id', 'workflow_tasks.name', 'workflow_tasks.status', 'workflow_tasks.open_dependencies', 'workflow_tasks.assigned_agent_id'])
    .select(['agents.name as agent_name', 'agents.developer_id'])
    .where('workflow_tasks.status', 'in', TAKEN_UP)
    .orderBy('workflow_tasks.updated_at', 'desc')
    .orderBy('workflow_tasks.id', 'desc')
    .limit(MAX_ITEMS.current)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    status: shownStatus(row),
    agent_id: row.assigned_agent_id,
    agent_name: show(row.developer_id, row.agent_name),
  }));
}

async function freeTasks(db: Db, workflow: WorkflowRow) {
  return await ofWorkflow(db, workflow)
    .select(['id', 'name'])
    .where('status', '=', 'pending')
    .where('open_dependencies', '=', 0)
    .where('assigned_agent_id', 'is', null)
    .orderBy('sequence')
    .orderBy('name')
    .limit(MAX_ITEMS.next)
    .execute();
}

async function ended(db: Db, workflow: WorkflowRow, status: 'completed' | 'failed', limit: number) {
  return await ofWorkflow(db, workflow)
    .select(['id', 'name', 'outcome', 'error'])
    .where('status', '=', status)
    // A late checkpoint changes a completed task, but does not complete it again. A failed one has not finished.
    .orderBy(status === 'completed' ? 'finished_at' : 'updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** A task that waits for a person is paused, and names the question. */
async function openQuestions(db: Db, workflow: WorkflowRow) {
  return await ofWorkflow(db, workflow)
    .innerJoin('messages', (join) =>
      join.onRef('messages.workspace_id', '=', 'workflow_tasks.workspace_id').onRef('messages.id', '=', 'workflow_tasks.question_id'),
    )
    .select(['messages.id', 'messages.body', 'messages.subject', 'workflow_tasks.id as task_id'])
    .where('workflow_tasks.status', '=', 'paused')
    .orderBy('messages.sent_at', 'desc')
    .orderBy('messages.id', 'desc')
    .limit(MAX_ITEMS.questions)
    .execute();
}

/** What agents wrote is text: on one line it can make no heading, and escaped no markup; nor does `@path` import a file, as in CLAUDE.md it would. */
const escapeMarkdown = (text: string): string => oneLine(text).replace(/[\\`*_[\]<>#|~@]/g, (mark) => `\\${mark}`);

/** A path or an address, letter by letter. */
const verbatim = (text: string): string => `\`${oneLine(text).replaceAll('`', "'")}\``;

type Of<K extends keyof WorkflowDigest> = WorkflowDigest[K] extends readonly (infer T)[] ? T : never;

const after = (text: string): string => (text === '' ? '' : `: ${escapeMarkdown(text)}`);

/** One line each, as a list has it. */
const lines = {
  question: ({ id, question }: Of<'open_questions'>) => `- ${id}${after(question)}`,
  current: ({ id, name, status, agent_id, agent_name }: Of<'current'>) =>
    `- ${escapeMarkdown(name)} (${id}, ${status}${agent_id === null ? ', held by nobody' : `, held by ${escapeMarkdown(agent_name ?? '')} ${agent_id}`})`,
  next: ({ id, name }: Of<'next'>) => `- ${escapeMarkdown(name)} (${id})`,
  failed: ({ id, name, error }: Of<'failed'>) => `- ${escapeMarkdown(name)} (${id})${after(error)}`,
  recent: ({ id, name, outcome }: Of<'recent_outcomes'>) => `- ${escapeMarkdown(name)} (${id})${after(outcome)}`,
};

const section = (title: string, items: readonly string[]): string => (items.length === 0 ? '' : `\n## ${title}\n\n${items.join('\n')}\n`);

/** The summary as a short page. */
function markdownOf(digest: WorkflowDigest): string {
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
