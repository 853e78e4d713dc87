import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import { viewerOf } from '../../core/identity/index.ts';
import type { QuestionView } from './contract.ts';
import { bodyText } from './message.ts';
import { answeredQuestionRows, answersTo, openQuestionRow, openQuestionRows, type QuestionRow } from './store.ts';

/** Maximum number of open questions in the list for people. Later questions appear as soon as earlier ones are answered. */
const MAX_OPEN = 200;
const MAX_ANSWERED = 50;

interface QuestionWithAnswer extends QuestionView {
  readonly answer: string | null;
  readonly answered_at: number | null;
}

/** Hides the names of private developers' agents, because such a name may reveal the owner. */
async function questionViewer(db: Db, principal: Principal): Promise<(row: QuestionRow) => QuestionView> {
  const viewer = await viewerOf(db, principal);
  return (row) => ({
    question_id: row.id,
    agent_id: row.sender_id,
    agent_name: viewer.show(row.developer_id, row.agent_name),
    workflow_id: row.workflow_id,
    workflow_name: row.workflow_name,
    task_id: row.task_id,
    task_name: row.task_name,
    subject: row.subject,
    question: bodyText(row),
    priority: row.priority,
    asked_at: row.sent_at,
    expires_at: row.expires_at,
  });
}

/** Returns open questions, oldest first. If more than `limit` exist, returns one more than `limit`, so that the caller can see this. */
export async function openQuestions(db: Db, workspace: string, viewer: Principal, now: number, limit: number): Promise<QuestionView[]> {
  const rows = await openQuestionRows(db, workspace, now, limit + 1);
  return rows.length === 0 ? [] : rows.map(await questionViewer(db, viewer));
}

/** Returns null if the question is no longer open. */
export async function openQuestion(db: Db, workspace: string, viewer: Principal, now: number, id: string): Promise<QuestionWithAnswer | null> {
  const row = await openQuestionRow(db, workspace, now, id);
  return row ? { ...(await questionViewer(db, viewer))(row), answer: null, answered_at: null } : null;
}

export async function readOpen(db: Db, workspace: string, viewer: Principal, now: number): Promise<{ items: QuestionWithAnswer[]; cut: boolean }> {
  const open = await openQuestions(db, workspace, viewer, now, MAX_OPEN);
  return { items: open.slice(0, MAX_OPEN).map((question) => ({ ...question, answer: null, answered_at: null })), cut: open.length > MAX_OPEN };
}

export async function readAnswered(db: Db, workspace: string, viewer: Principal): Promise<{ items: QuestionWithAnswer[]; cut: boolean }> {
  const rows = await answeredQuestionRows(db, workspace, MAX_ANSWERED + 1);
  const listed = rows.slice(0, MAX_ANSWERED);
  const answers = new Map((await answersTo(db, workspace, listed)).map((row) => [row.reply_to_id, bodyText(row)]));
  const view = await questionViewer(db, viewer);
  return {
    items: listed.map((row) => ({ ...view(row), answer: answers.get(row.id) ?? null, answered_at: row.answered_at })),
    cut: rows.length > MAX_ANSWERED,
  };
}
