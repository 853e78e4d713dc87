import { ok } from '../../kernel/reply.ts';
import { type Implementation, implement } from '../../kernel/tool.ts';
import { GENESIS, readEvents, readHead } from '../../storage/journal.ts';
import { redactor } from '../identity/index.ts';
import { eventRate, listEvents } from './contract.ts';
import { countedBy, type Tally } from './tally.ts';

export const eventTools = (tally: Tally): Implementation[] => [
  implement(listEvents, {
    read: async ({ after = 0, latest, limit = 200 }, ctx) => {
      const head = (await readHead(ctx.reader, ctx.workspace)) ?? { seq: 0, hash: GENESIS };
      const from = latest === undefined ? after : Math.max(0, head.seq - latest);
      // The events up to the head that is told with them: what came in between belongs to the next page.
      const events = (await readEvents(ctx.reader, ctx.workspace, from, latest ?? limit)).filter((event) => event.seq <= head.seq);
      const redact = await redactor(ctx.reader, ctx.workspace, ctx.principal);
      return ok({ items: events.map(redact), head: { seq: head.seq, hash: head.hash } });
    },
  }),
  implement(eventRate, {
    read: async ({ minutes = 60, step = 1 }, ctx) => {
      const now = ctx.clock.now();
      return ok(countedBy(await tally.read(ctx.reader, ctx.workspace, now), { now, minutes, step }));
    },
  }),
];
