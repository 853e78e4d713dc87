import type { CallContext, WriteContext } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import type { Tx } from '../../../storage/write.ts';
import { markDelivered, type Waiting, waitingFor } from '../../team/coordination/index.ts';
import { bodyText, HUMAN, type MessageRow, noteDelivery, SERVER, undeliveredTo } from '../../workflow/messages/index.ts';
import { BoundedText } from './bounded-text.ts';
import { type HookCaller, type HookContext, runsAround } from './context.ts';
import { findOwnAgents } from './ownership.ts';
import { saveRun } from './store.ts';
import { quoted } from './words.ts';

/** The maximum size of the news in one hook answer. The rest is delivered with the next hook. */
const ROOM_BYTES = 4_000;
const MAX_MESSAGES = 10;
const EXCERPT = 300;

/** `fresh`: only undelivered news. `open`: also delivered news that still waits for an answer. */
export type NewsScope = 'fresh' | 'open';

interface News extends Waiting {
  readonly messages: readonly MessageRow[];
}

const countNews = ({ waiting, answers, handoffs, messages }: News): number => waiting.length + answers.length + handoffs.length + messages.length;

const NOTHING: Waiting = { waiting: [], answers: [], handoffs: [] };

/** Returns the news for this agent in this run. */
export async function newsFor(db: Db, caller: HookCaller, hook: HookContext, now: number, scope: NewsScope): Promise<News> {
  const { workspace, principal } = caller;
  const { run, sessionId, rights } = hook;
  const isFresh = scope === 'fresh';
  const after = { seenUpTo: run?.handoffs_told ?? '', onlyUnseen: isFresh };
  const found = rights.coordination ? await waitingFor(db, workspace, principal, now, sessionId, { undelivered: isFresh, handoffs: after }) : NOTHING;
  const agentIds = (await findOwnAgents(db, caller, hook, now)).map(({ id }) => id);
  const messages = await undeliveredTo(db, workspace, agentIds, now, MAX_MESSAGES);
  // If the run is not known, the server cannot tell which handoffs were already delivered.
  return { ...found, handoffs: isFresh && !run ? [] : found.handoffs, messages };
}

/** Returns the news as a text for the agent's context and marks it as delivered. If there is no news, returns null and writes nothing. */
export async function deliverNews(ctx: CallContext, hook: HookContext, scope: NewsScope): Promise<string | null> {
  if (countNews(await newsFor(ctx.reader, ctx, hook, ctx.clock.now(), scope)) === 0) return null;
  return await ctx.write((tx) => writeNews(tx, ctx, hook, scope, new BoundedText(ROOM_BYTES)));
}

/** Builds the text and marks its contents as delivered, in one transaction. */
export async function writeNews(tx: Tx, ctx: WriteContext, hook: HookContext, scope: NewsScope, room: BoundedText): Promise<string | null> {
  const run = hook.run && (await runsAround(tx.db, ctx, hook.run.client_session, tx.now)).run;
  const news = await newsFor(tx.db, ctx, { ...hook, run }, tx.now, scope);
  if (countNews(news) === 0) return null;
  room.add(`Covenant: ${scope === 'fresh' ? 'new' : 'waiting'} for you. Quoted text was written by others.`);
  const waiting = news.waiting.filter((ask) => room.add(askLine(ask)));
  const answers = news.answers.filter((answer) => room.add(answerLine(answer)));
  // The run stores only the id of the last delivered handoff, so no handoff may be skipped.
  const cut = news.handoffs.findIndex((handoff) => !room.add(handoffLine(handoff)));
  const handoffs = cut < 0 ? news.handoffs : news.handoffs.slice(0, cut);
  const messages = news.messages.filter((message) => room.add(messageLine(message)));
  const shown = countNews({ waiting, answers, handoffs, messages });
  if (shown === 0) return null;
  const rest = countNews(news) - shown;
  const linked = { ...ctx, session: hook.sessionId };
  await markDelivered(tx, linked, { waiting, answers });
  if (messages.length > 0) await noteDelivery(tx, linked, messages);
  const last = handoffs.findLast(({ handoff_id }) => handoff_id > (run?.handoffs_told ?? ''))?.handoff_id;
  if (run && last !== undefined) await saveRun(tx, { ...run, handoffs_told: last });
  return rest === 0 ? room.text : `${room.text}\n- ${rest} more: call covibe_coordination list and message_list.`;
}

const askLine = ({ ask_id, from, message, due_at }: Waiting['waiting'][number]): string =>
  `- ${from} asks you, due ${new Date(due_at).toISOString()}: ${quoted(message, EXCERPT)}. Answer with covibe_coordination reply (ask_id: "${ask_id}", message: …).`;

const answerLine = ({ ask_id, from, answer }: Waiting['answers'][number]): string => `- ${from} answered your ask ${ask_id}: ${quoted(answer, EXCERPT)}.`;

const handoffLine = ({ handoff_id, from, message, context_id }: Waiting['handoffs'][number]): string =>
  `- ${from} offers you their work: ${quoted(message, EXCERPT)}. Accept with covibe_coordination accept_handoff (handoff_id: "${handoff_id}")${
    context_id === null ? '' : `; read its state with covibe_session get_context (context_id: "${context_id}")`
  }.`;

const SENDERS: Readonly<Record<string, string>> = { [HUMAN]: 'a person', [SERVER]: 'the server' };

function messageLine(row: MessageRow): string {
  const subject = row.subject === null ? '' : ` ${quoted(row.subject, 100)}:`;
  const urgent = row.priority === 'urgent' || row.priority === 'high' ? `${row.priority} ` : '';
  return (
    `- ${urgent}${row.message_type} from ${SENDERS[row.sender_id] ?? row.sender_id} to your agent ${row.recipient_id}:${subject} ${quoted(bodyText(row), EXCERPT)}. ` +
    `Read it in full with message_get (id: "${row.id}"); answer with message_send (reply_to_id: "${row.id}").`
  );
}
