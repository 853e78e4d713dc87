import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { CallContext } from '../../../kernel/call.ts';
import { ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { earlierBreak } from '../../../storage/anchors/check.ts';
import type { AnchorKeeper } from '../../../storage/anchors/keeper.ts';
import { ChainVerifier, unattestedCut } from '../../../storage/chain-verifier.ts';
import { type ChainPoint, GENESIS, readAnchor, readEvents, readHead } from '../../../storage/journal.ts';
import { isCutAttested } from '../../../storage/journal-prune.ts';
import { developerFor, eventRedactor, PRIVATE, valueRedactor } from '../identity/index.ts';
import { eventRate, listEvents, verifyEvents } from './contract.ts';
import { type JournalStretch, searchEvents, type Whose } from './store.ts';
import { countByStep, type Tally } from './tally.ts';

export const eventTools = (tally: Tally, keeper: AnchorKeeper): Implementation[] => [
  implement(listEvents, {
    read: async ({ after, before, latest, limit = 200, actor, ...filter }, ctx) => {
      const head = await headOf(ctx);
      const anchor = await readAnchor(ctx.reader, ctx.workspace);
      const bounds = { begin: anchor.seq + 1, end: head.seq, reach: LOOKED_AT };
      // Reads only events up to the head that is returned. Later events belong to the next page.
      const stretch: JournalStretch =
        latest === undefined && before === undefined
          ? { start: (after ?? 0) + 1, direction: 'on', limit, ...bounds }
          : { start: Math.min(head.seq, (before ?? head.seq + 1) - 1), direction: 'back', limit: latest ?? limit, ...bounds };
      const sought = { ...filter, whose: actor === undefined ? undefined : await whoseEvents(ctx, actor) };
      const redact = await eventRedactor(ctx.reader, ctx.workspace, ctx.principal);
      return ok({ ...(await searchEvents(ctx.reader, ctx.workspace, stretch, sought, redact)), head, anchor });
    },
  }),
  implement(verifyEvents, {
    read: async ({ after = 0, previous = GENESIS, limit = 5_000 }, ctx) => {
      const head = await headOf(ctx);
      const anchor = await readAnchor(ctx.reader, ctx.workspace);
      const start = after > anchor.seq ? { seq: after, hash: previous } : anchor;
      const verifier = new ChainVerifier(start);
      const last = Math.min(head.seq, start.seq + limit);
      let cutOff = false;
      while (verifier.reached.seq < last && !verifier.reached.firstBreak && !cutOff && !ctx.signal.aborted) {
        const { seq } = verifier.reached;
        const page = await readEvents(ctx.reader, ctx.workspace, seq, Math.min(VERIFIED_AT_ONCE, last - seq));
        for (const event of page) verifier.add(event);
        cutOff = page.length === 0;
        // Hashing blocks this thread, so other calls run between the pages.
        await yieldToEventLoop();
      }
      if (cutOff || last === head.seq) verifier.finish(head);
      const { seq, hash, firstBreak: broken } = verifier.reached;
      const chainBreak = broken ?? ((await isCutAttested(ctx.reader, ctx.workspace, anchor)) ? null : unattestedCut(anchor));
      const done = last === head.seq || chainBreak !== null;
      // A journal whose end was cut off is still a valid chain. Only anchors can show that its end is missing.
      const firstBreak = done ? earlierBreak(chainBreak, (await keeper.check(ctx.reader, ctx.workspace)).firstBreak) : chainBreak;
      return ok({ verified_to: seq, root: hash, head, anchor, first_break: firstBreak, done });
    },
  }),
  implement(eventRate, {
    read: async ({ minutes = 60, step = 1 }, ctx) => {
      const now = ctx.clock.now();
      return ok(countByStep(await tally.read(ctx.reader, ctx.workspace, now), { now, minutes, step }));
    },
  }),
];

/** The maximum number of events searched for one answer. */
const LOOKED_AT = 25_000;
const VERIFIED_AT_ONCE = 500;

async function headOf({ reader, workspace }: CallContext): Promise<ChainPoint> {
  const { seq, hash } = (await readHead(reader, workspace)) ?? { seq: 0, hash: GENESIS };
  return { seq, hash };
}

/** Matches an actor in the form that the journal uses, such as `agent:codex@dev_…` or `operator`. */
const AS_JOURNALED = /^(agent|developer|instance):|^operator$/;

/** No actor has this name. */
const NOBODY = '';

/** Resolves a name to the ids that the journal contains. The names of developers that the viewer may not see are not resolved. */
async function whoseEvents({ reader, workspace, principal }: CallContext, who: string): Promise<Whose> {
  if (who === PRIVATE) return { actor: who };
  // A search for a hidden developer must take as long as a search for a developer that does not exist. Otherwise the duration
  // would reveal that the developer exists.
  if (AS_JOURNALED.test(who)) return { actor: (await (await valueRedactor(reader, workspace, principal))(who)) === who ? who : NOBODY };
  const [, agent, name = who] = /^([^@]+)@(.+)$/.exec(who) ?? [];
  try {
    const { id } = await developerFor(reader, workspace, principal, name);
    return agent === undefined ? { developer: id } : { actor: `agent:${agent}@${id}` };
  } catch (error) {
    if (error instanceof Refusal) return { actor: `instance:${who}` };
    throw error;
  }
}
