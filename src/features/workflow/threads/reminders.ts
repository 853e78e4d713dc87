import type { Db } from '../../../storage/engine.ts';
import { eventsAbout } from '../../../storage/journal.ts';

/** Reminders are events and nothing else: by subject the journal has an index. */
const REMINDED = ['ask.reminded', 'question.reminded', 'message.reminded'] as const;

const MOST = 20;

interface Reminder {
  readonly seq: number;
  readonly actor: string;
  readonly time: number;
}

/** The last ones, the newest first. */
export async function remindersOf(db: Db, workspace: string, subject: string): Promise<Reminder[]> {
  return await eventsAbout(db, workspace, [subject])
    .select(['seq', 'actor', 'time'])
    .where('kind', 'in', REMINDED)
    .orderBy('seq', 'desc')
    .limit(MOST)
    .execute();
}
