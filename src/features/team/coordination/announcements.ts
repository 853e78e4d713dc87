import { record, type WriteContext } from '../../../kernel/call.ts';
import { invalidInput, ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { insertRows, newId } from '../../../storage/rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper } from '../../core/identity/index.ts';
import { announce, MAX_ANNOUNCEMENT } from './contract.ts';
import { boundedDetails } from './event-details.ts';

export const announcementTools: Implementation[] = [
  implement(announce, {
    write: async (tx, { message, repo, paths = [] }, ctx) => {
      const developerId = callingDeveloper(ctx.principal);
      // The handler checks the length, because all operations of a tool share the schema of `message`, and an ask may be longer than an announcement.
      if (message.length > MAX_ANNOUNCEMENT) throw invalidInput([{ field: 'message', message: `has more than ${MAX_ANNOUNCEMENT} characters` }]);
      const id = await announceToTeam(tx, ctx, { developerId, message, repo: repo ?? null, paths });
      return ok({ announcement_id: id }, 'Announced to the team.');
    },
  }),
];

interface Announcement {
  /** The author of the announcement. */
  readonly developerId: string;
  readonly message: string;
  readonly repo: string | null;
  readonly paths: readonly string[];
}

export async function announceToTeam(tx: Tx, ctx: WriteContext, { developerId, message, repo, paths }: Announcement): Promise<string> {
  const id = newId('ann', tx.now);
  await insertRows(tx.db, 'announcements', {
    workspace_id: tx.workspace,
    id,
    developer_id: developerId,
    session_id: ctx.session,
    message,
    repo,
    paths: JSON.stringify(paths),
    created_at: tx.now,
  });
  const payload = { announcement_id: id, ...boundedDetails({ message, repo, paths }) };
  record(tx, ctx, { category: 'work', kind: 'coordination.announced', subject: id, payload });
  return id;
}
