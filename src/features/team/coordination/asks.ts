import { CLIENT_NAMES } from '../../../clients/client.ts';
import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import { invalidInput, notFound, ok, Refusal, refused } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, insertRows, newId } from '../../../storage/rows.ts';
import type { AskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper, developerFor } from '../../core/identity/index.ts';
import { announce, ask, MAX_ANNOUNCEMENT, reply } from './contract.ts';
import { boundedDetails } from './present.ts';
import { findAsk } from './store.ts';

const DEFAULT_DUE_MINUTES = 60;
const MINUTE = 60_000;

export const askTools: Implementation[] = [
  implement(ask, {
    write: async (tx, { to, message, due_in_minutes = DEFAULT_DUE_MINUTES, repo, paths = [] }, ctx) => {
      const developerId = callingDeveloper(ctx.principal);
      const addressee = await addresseeOf(tx.db, tx.workspace, ctx.principal, to);
      const id = newId('ask', tx.now);
      const due_at = tx.now + due_in_minutes * MINUTE;
      await insertRows(tx.db, 'asks', {
        workspace_id: tx.workspace,
        id,
        from_developer_id: developerId,
        from_actor: ctx.principal.actor,
        session_id: ctx.session,
        to_developer_id: addressee.developerId,
        to_agent_type: addressee.agentType,
        message,
        repo: repo ?? null,
        paths: JSON.stringify(paths),
        created_at: tx.now,
        due_at,
        delivered_at: null,
        read_at: null,
        answer: null,
        answered_at: null,
        answer_delivered_at: null,
      });
      const payload = {
        ask_id: id,
        to: addressee.developerId,
        to_agent_type: addressee.agentType,
        due_at,
        ...boundedDetails({ message, repo: repo ?? null, paths }),
      };
      record(tx, ctx, { category: 'work', kind: 'ask.sent', subject: id, payload });
      return ok(
        { ask_id: id, due_at, receipt: 'sent' },
        'Sent. The answer comes with one of your next heartbeats; covibe_coordination list shows how far it is.',
      );
    },
  }),
  implement(reply, {
    write: async (tx, { ask_id, message }, ctx) => {
      const row = await findAsk(tx.db, tx.workspace, ask_id);
      if (!row || !isAddressedTo(row, ctx.principal)) throw askNotFound(ask_id);
      if (row.answered_at !== null) {
        return refused(
          'warning',
          'ASK_ALREADY_ANSWERED',
          'This ask had been answered; the first answer counts.',
          'To say more, ask back with covibe_coordination ask.',
          {
            ask_id,
            receipt: 'answered',
            answered_at: row.answered_at,
          },
        );
      }
      await answerAsk(tx, ctx, row, message);
      return ok({ ask_id, receipt: 'answered' }, 'Answered.');
    },
  }),
];

/** Whether it may be answered has been judged: by whom, and that nobody has. */
export async function answerAsk(tx: Tx, ctx: WriteContext, { id, delivered_at, read_at, due_at }: AskRow, answer: string): Promise<void> {
  // Whoever answers has got it and read it.
  const receipts = { delivered_at: delivered_at ?? tx.now, read_at: read_at ?? tx.now };
  await changeRows(tx.db, 'asks', { workspace_id: tx.workspace, id: id }, { ...receipts, answer, answered_at: tx.now });
  const payload = { ask_id: id, late: tx.now > due_at, ...boundedDetails({ answer }) };
  record(tx, ctx, { category: 'work', kind: 'ask.answered', subject: id, payload });
}

/** In the same words whether there is none or it was put to somebody else. */
const askNotFound = (id: string): Refusal =>
  notFound('ASK_NOT_FOUND', `ask_id: no ask ${JSON.stringify(id)} was put to you.`, 'covibe_coordination list shows the asks that wait for you.', 'ask_id');

export const announcementTools: Implementation[] = [
  implement(announce, {
    write: async (tx, { message, repo, paths = [] }, ctx) => {
      const developerId = callingDeveloper(ctx.principal);
      // Within one tool a field has one schema, and an ask may be longer.
      if (message.length > MAX_ANNOUNCEMENT) throw invalidInput([{ field: 'message', message: `has more than ${MAX_ANNOUNCEMENT} characters` }]);
      const id = await announceToTeam(tx, ctx, { developerId, message, repo: repo ?? null, paths });
      return ok({ announcement_id: id }, 'Announced to the team.');
    },
  }),
];

interface Announcement {
  /** Who says it. */
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

/** A developer, or only their agents of one type. */
interface Addressee {
  readonly developerId: string;
  readonly agentType: string | null;
}

/** `mira`, `@mira`, her id, or `codex@mira`. A name that merely contains an @ is a name. */
export async function addresseeOf(db: Db, workspace: string, caller: Principal, to: string): Promise<Addressee> {
  const agentType = CLIENT_NAMES.find((type) => to.startsWith(`${type}@`)) ?? null;
  const developer = await namedBy(db, workspace, caller, agentType ? to.slice(agentType.length + 1) : to);
  if (developer.id === caller.developerId && (agentType === null || agentType === caller.agentType)) {
    throw new Refusal('ADDRESSEE_IS_CALLER', 'to: that is you.', 'Name another developer, or another of your agents, such as "codex@yourname".', {
      field: 'to',
    });
  }
  return { developerId: developer.id, agentType };
}

async function namedBy(db: Db, workspace: string, caller: Principal, who: string) {
  try {
    return await developerFor(db, workspace, caller, who);
  } catch (error) {
    if (error instanceof Refusal) throw new Refusal(error.code, `to: ${error.message}`, error.next, { ...error.details, field: 'to' });
    throw error;
  }
}

export const isAddressedTo = (row: { to_developer_id: string; to_agent_type: string | null }, caller: Principal): boolean =>
  row.to_developer_id === caller.developerId && (row.to_agent_type === null || row.to_agent_type === caller.agentType);
