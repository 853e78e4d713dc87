import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Principal } from '../../../kernel/context.ts';
import { HUMAN } from '../../workflow/messages/index.ts';

/** Of agents' mail, what the viewer may read: what people write or are asked is for all, the rest for who takes part, and for operators. */
export function readableMail({ operator, workspace, developerId }: Principal): RawBuilder<SqlBool> {
  if (operator) return sql`1 = 1`;
  const own = sql`select id from agents where workspace_id = ${workspace} and developer_id = ${developerId ?? ''}`;
  return sql`(sender_id = ${HUMAN} or recipient_id = ${HUMAN} or sender_id in (${own}) or recipient_id in (${own}))`;
}
