import { findBySuffix } from '../../../kernel/tail.ts';
import type { Db } from '../../../storage/engine.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import { HUMAN } from './contract.ts';
import { messagesIn } from './store.ts';

/** With the names of who asks and of what the question is about. A task that was removed meanwhile keeps its name. */
const questionsIn = (db: Db, workspace: string) =>
  db
    .selectFrom('messages')
    .leftJoin('agents', (join) => join.onRef('agents.workspace_id', '=', 'messages.workspace_id').onRef('agents.id', '=', 'messages.sender_id'))
    .leftJoin('workflows', (join) => join.onRef('workflows.workspace_id', '=', 'messages.workspace_id').onRef('workflows.id', '=', 'messages.workflow_id'))
    .leftJoin('workflow_tasks', (join) =>
      join.onRef('workflow_tasks.workspace_id', '=', 'messages.workspace_id').onRef('workflow_tasks.id', '=', 'messages.task_id'),
    )
    .selectAll('messages')
    .select(['agents.name as agent_name', 'agents.developer_id as developer_id', 'workflows.name as workflow_name', 'workflow_tasks.name as task_name'])
    .where('messages.workspace_id', '=', workspace)
    .where('messages.recipient_id', '=', HUMAN);
export type QuestionRow = Awaited<ReturnType<typeof openQuestionRows>>[number];

const openQuestionsIn = (db: Db, workspace: string, now: number) =>
  questionsIn(db, workspace)
    .where('messages.status', '=', 'unread')
    .where((eb) => eb.or([eb('messages.expires_at', 'is', null), eb('messages.expires_at', '>', now)]));

export async function openQuestionRow(db: Db, workspace: string, now: number, id: string): Promise<QuestionRow | undefined> {
  return await openQuestionsIn(db, workspace, now).where('messages.id', '=', id).executeTakeFirst();
}

/** Those that wait for an answer, the oldest first. */
export async function openQuestionRows(db: Db, workspace: string, now: number, limit: number) {
  return await openQuestionsIn(db, workspace, now).orderBy('messages.sent_at').orderBy('messages.id').limit(limit).execute();
}

/** The last to be answered first. */
export async function answeredQuestionRows(db: Db, workspace: string, limit: number): Promise<QuestionRow[]> {
  return await questionsIn(db, workspace)
    .where('messages.status', '=', 'read')
    .orderBy('messages.answered_at', 'desc')
    .orderBy('messages.id', 'desc')
    .limit(limit)
    .execute();
}

/** What people answered to these questions. */
export async function answersTo(db: Db, workspace: string, questions: readonly Pick<MessageRow, 'id' | 'thread_id'>[]): Promise<MessageRow[]> {
  if (questions.length === 0) return [];
  return await messagesIn(db, workspace)
    .where(
      'thread_id',
      'in',
      questions.map(({ thread_id }) => thread_id),
    )
    .where('sender_id', '=', HUMAN)
    .where(
      'reply_to_id',
      'in',
      questions.map(({ id }) => id),
    )
    .execute();
}

export const questionNamed = (db: Db, workspace: string, tail: string): Promise<MessageRow> =>
  findBySuffix(messagesIn(db, workspace).where('recipient_id', '=', HUMAN), tail, 'question');

/** Questions of all workspaces that ran out of time. */
export async function lapsedQuestions(db: Db, now: number, limit: number): Promise<Pick<MessageRow, 'workspace_id' | 'id'>[]> {
  return await db
    .selectFrom('messages')
    .select(['workspace_id', 'id'])
    .where('recipient_id', '=', HUMAN)
    .where('status', '=', 'unread')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}
