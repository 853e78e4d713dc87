import type { CallContext } from '../../../kernel/call.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { HookEvent, HookReply } from '../../../wire/hook-question.ts';
import type { Gate } from '../capabilities/index.ts';
import { failsClosed } from '../settings/index.ts';
import { type HookContext, hookContextOf, type RunQuestion, runsAround, type SessionListeners } from './context.ts';
import { hear } from './contract.ts';
import { denialOf } from './edits.ts';
import { sessionEnds, sessionStarts, withSession } from './lifecycle.ts';
import { type NewsScope, tellNews } from './news.ts';
import { recover } from './recover.ts';
import { rightsOf } from './rights.ts';
import { stops } from './stop.ts';
import { saveRun } from './store.ts';

type Hearing = (ctx: CallContext, question: RunQuestion, hook: HookContext, listeners: SessionListeners) => Promise<HookReply>;

const mayWrite: Hearing = async (ctx, question, hook) => {
  const reason = await denialOf(ctx, question, hook);
  return reason === undefined ? {} : { decision: 'deny', reason };
};

const tells =
  (scope: NewsScope): Hearing =>
  async (ctx, { hears }, hook) => {
    if (!hears) return {};
    return { context: hook.run?.compacted === 1 ? await recover(ctx, hook) : await tellNews(ctx, hook, scope) };
  };

/** Where the agent is not shown it yet, what it has to know is put back by whichever hook comes next. */
const compacts: Hearing = async (ctx, { hears }, hook) => {
  const { run } = hook;
  if (hears) return { context: await recover(ctx, hook) };
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
      const found = await hookContextOf(ctx, question, rights, listeners);
      const hook = question.event === 'prompt' ? await withSession(ctx, question, found) : found;
      const said = await HEARINGS[question.event](ctx, question, hook, listeners);
      const context = [hook.told, said.context].filter((part) => typeof part === 'string').join('\n');
      return ok({
        decision: 'allow',
        reason: null,
        notice: null,
        session_id: hook.run?.session_id ?? null,
        ...said,
        context: context === '' ? null : context,
        fail_closed: await failsClosed(ctx.reader, ctx.workspace),
      });
    },
  }),
];
