import { sql } from 'kysely';
import { z } from 'zod';
import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import { readJson } from '../../../storage/rows.ts';
import type { teamFeedback } from './contract.ts';

const feedbackPayload = z.looseObject({
  type: z.enum(['warning', 'block', 'error', 'info']),
  code: z.string(),
  message: z.string(),
  required_action: z.string(),
});

type FeedbackItem = Output<typeof teamFeedback>['items'][number];

/** The feedback that calls of the developer's agents received, newest first. It is found by its actor, which ends with the developer's id. */
export async function feedbackOf(
  db: Db,
  workspace: string,
  developerId: string,
  type: FeedbackItem['type'] | undefined,
  limit: number,
): Promise<FeedbackItem[]> {
  let query = db
    .selectFrom('events')
    .selectAll()
    .where('workspace_id', '=', workspace)
    // This must be a literal. With a parameter, the query planner could not use the index on feedback.
    .where('category', '=', sql.lit<'feedback'>('feedback'))
    .where('actor', 'like', `%${developerId}`);
  if (type) query = query.where('payload', 'like', `%"type":"${type}"%`);
  const rows = await query
    .orderBy('seq', 'desc')
    .limit(type ? limit * 2 : limit)
    .execute();
  return rows
    .map((row) => ({ row, parsed: feedbackPayload.safeParse(readJson(z.unknown(), row.payload)) }))
    .flatMap(({ row, parsed }) => {
      if (!parsed.success || (type && parsed.data.type !== type)) return [];
      const { type: kind, code, message, required_action } = parsed.data;
      return [{ seq: row.seq, type: kind, tool: row.kind, code, message, required_action, session_id: row.session, time: row.time }];
    })
    .slice(0, limit);
}
