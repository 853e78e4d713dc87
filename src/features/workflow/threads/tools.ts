import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { HUMAN, recipientsOf } from '../messages/index.ts';
import { answerByHand, broadcastFrom, remindByHand } from './act.ts';
import { answerThread, broadcastByHand, listRecipients, listThreads, remindThread, showThread } from './contract.ts';
import { readThreads } from './list.ts';
import { partiesFor } from './parties.ts';
import { readThread } from './show.ts';

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
