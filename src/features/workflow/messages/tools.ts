import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { answerThread, broadcastByHand, HUMAN, listRecipients, listThreads, remindThread, showThread } from './contract.ts';
import { inboxTools } from './inbox.ts';
import { peopleTools } from './questions.ts';
import { recipientsOf, sendTools } from './send.ts';
import { answerByHand, broadcastFrom, remindByHand } from './thread-acts.ts';
import { readThread, readThreads } from './thread-reading.ts';
import { partiesFor } from './thread-view.ts';

export const messageTools: Implementation[] = [...sendTools, ...inboxTools, ...peopleTools];

const RECIPIENTS_NAMED = 200;

/** For people alone: no agent's token reaches these. */
export const threadTools: Implementation[] = [
  implement(listThreads, { read: async (wanted, ctx) => ok(await readThreads(ctx, wanted)) }),
  implement(showThread, { read: async ({ id }, ctx) => ok(await readThread(ctx, id)) }),
  implement(answerThread, { write: async (tx, input, ctx) => ok(await answerByHand(tx, ctx, input), 'Answered.') }),
  implement(remindThread, { write: async (tx, input, ctx) => ok(await remindByHand(tx, ctx, input), 'Reminded.') }),
  implement(listRecipients, {
    read: async ({ role }, { reader, principal, clock }) => {
      const agents = await recipientsOf(reader, principal, { role }, clock.now(), HUMAN);
      const named = agents.slice(0, RECIPIENTS_NAMED);
      const parties = await partiesFor(
        reader,
        principal,
        clock.now(),
        named.map(({ id }) => id),
      );
      const items = named.map((agent) => ({ ...parties.agent(agent.id, null), runtime: agent.runtime, role: agent.role }));
      return ok({ items, total: agents.length });
    },
  }),
  implement(broadcastByHand, { write: async (tx, input, ctx) => ok(await broadcastFrom(tx, ctx, input), 'Sent.') }),
];
