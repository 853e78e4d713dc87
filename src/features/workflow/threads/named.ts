import type { Principal } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { endingIn, onlyMatch } from '../../../kernel/tail.ts';
import type { Db } from '../../../storage/engine.ts';
import { findAnnouncement, findAsk, findHandoff } from '../../team/coordination/index.ts';
import { beginningsOf, findMessage, HUMAN } from '../messages/index.ts';
import { type Found, withFacts } from './found.ts';

const notFound = (id: string): Refusal =>
  new Refusal(
    'MESSAGE_NOT_FOUND',
    `There is no message, ask, handoff or announcement ${JSON.stringify(id)}.`,
    'covenant messages list names those there are.',
    {
      field: 'id',
    },
  );

/** The thread that it belongs to. */
export async function threadOf(db: Db, viewer: Principal, id: string): Promise<Found> {
  const found = await byPrefix(db, viewer, id);
  if (found) return found;
  throw notFound(id);
}

async function byPrefix(db: Db, viewer: Principal, id: string): Promise<Found | undefined> {
  const { workspace } = viewer;
  if (id.startsWith('ask_')) {
    const row = await findAsk(db, workspace, id);
    return row && { of: 'asks', row };
  }
  if (id.startsWith('handoff_')) {
    const row = await findHandoff(db, workspace, id);
    return row && { of: 'handoffs', row };
  }
  if (id.startsWith('ann_')) {
    const row = await findAnnouncement(db, workspace, id);
    return row && { of: 'announcements', row };
  }
  const threadId = id.startsWith('thr_') ? id : (await findMessage(db, workspace, id))?.thread_id;
  const [found] = threadId === undefined ? [] : await withFacts(db, viewer, await beginningsOf(db, workspace, [threadId]));
  return found;
}

/** What waits for an answer, by its id or the end of it, as people type it. */
export async function unansweredNamed(db: Db, viewer: Principal, tail: string): Promise<Found> {
  const whole = await byPrefix(db, viewer, tail);
  if (whole) return whole;
  const asks = db.selectFrom('asks').select('id').where('workspace_id', '=', viewer.workspace).where('answered_at', 'is', null);
  const questions = db
    .selectFrom('messages')
    .select('id')
    .where('workspace_id', '=', viewer.workspace)
    .where('recipient_id', '=', HUMAN)
    .where('status', '=', 'unread');
  const found = [...(await endingIn(asks, tail)), ...(await endingIn(questions, tail))].map(({ id }) => id);
  return await threadOf(db, viewer, onlyMatch(found, tail, 'message'));
}
