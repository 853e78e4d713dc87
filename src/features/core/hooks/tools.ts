import type { CallContext } from '../../../kernel/context.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { HookEvent, HookReply } from '../../../wire/hook-question.ts';
import type { Gate } from '../capabilities/index.ts';
import { failsClosed } from '../settings/index.ts';
import { type HookContext, type RunQuestion, rightsOf, runsAround, type SessionListeners, standingOf } from './context.ts';
import { hear } from './contract.ts';
import { denialOf } from './edits.ts';
import { sessionEnds, sessionStarts, withSession } from './lifecycle.ts';
import { type NewsScope, tellNews } from './news.ts';
import { recover } from './recover.ts';
import { stops } from './stop.ts';
import { saveRun } from './store.ts';

type Hearing = (ctx: CallContext, question: RunQuestion, standing: HookContext, listeners: SessionListeners) => Promise<HookReply>;

const mayWrite: Hearing = async (ctx, question, standing) => {
  const reason = await denialOf(ctx, question, standing);
  return reason === undefined ? {} : { decision: 'deny', reason };
};

const tells =
  (wanted: NewsScope): Hearing =>
  async (ctx, { hears }, standing) => {
    if (!hears) return {};
    return { context: standing.run?.compacted === 1 ? await recover(ctx, standing) : await tellNews(ctx, standing, wanted) };
  };

/** Where the agent is not shown it yet, what it has to know is put back by whichever hook comes next. */
const compacts: Hearing = async (ctx, { hears }, standing) => {
  const { run } = standing;
  if (hears) return { context: await recover(ctx, standing) };
  if (!run) return {};
  await ctx.write(async (tx) => {
    const { run: current } = await runsAround(tx.db, ctx, run.client_session, tx.now);
    if (current) await saveRun(tx, { ...current, compacted: 1 });
  });
  return {};
};

const HEARINGS: Readonly<Record<HookEvent, Hearing>> = {
  'session-start': sessionStarts,
  'session-end': sessionEnds,
  prompt: tells('open'),
  'before-tool': mayWrite,
  'after-tool': tells('fresh'),
  stop: stops,
  compact: compacts,
  commit: mayWrite,
  push: mayWrite,
};

export interface HookParts extends SessionListeners {
  readonly gate: () => Gate;
}

export const hookTools = ({ gate, ...listeners }: HookParts): Implementation[] => [
  implement(hear, {
    run: async (asked, ctx) => {
      const rights = await rightsOf(gate(), ctx.principal);
      const question = { ...asked, hears: asked.hears && Object.values(rights).includes(true) };
      const found = await standingOf(ctx, question, rights, listeners);
      const standing = question.event === 'prompt' ? await withSession(ctx, question, found) : found;
      const said = await HEARINGS[question.event](ctx, question, standing, listeners);
      const context = [standing.told, said.context].filter((part) => typeof part === 'string').join('\n');
      return ok({
        decision: 'allow',
        reason: null,
        notice: null,
        session_id: standing.run?.session_id ?? null,
        ...said,
        context: context === '' ? null : context,
        fail_closed: await failsClosed(ctx.reader, ctx.workspace),
      });
    },
  }),
];
