import type { CallContext } from '../../../kernel/call.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { HookEvent, HookReply } from '../../../wire/hook-question.ts';
import type { Gate } from '../capabilities/index.ts';
import { failsClosed } from '../settings/index.ts';
import { type HookContext, hookContextOf, runsAround } from './context.ts';
import { hearHook, type RunQuestion } from './contract.ts';
import { findDenial } from './edits.ts';
import { continueSession, handleSessionEnd, handleSessionStart } from './lifecycle.ts';
import { deliverNews, type NewsScope } from './news.ts';
import { recover } from './recover.ts';
import { rightsOf } from './rights.ts';
import type { SessionListeners } from './session.ts';
import { handleStop } from './stop.ts';
import { saveRun } from './store.ts';

type HookHandler = (ctx: CallContext, question: RunQuestion, hook: HookContext, listeners: SessionListeners) => Promise<HookReply>;

const checkEdits: HookHandler = async (ctx, question, hook) => {
  const reason = await findDenial(ctx, question, hook);
  return reason === undefined ? {} : { decision: 'deny', reason };
};

const tellNews =
  (scope: NewsScope): HookHandler =>
  async (ctx, { hears }, hook) => {
    if (!hears) return {};
    return { context: hook.run?.compacted === 1 ? await recover(ctx, hook) : await deliverNews(ctx, hook, scope) };
  };

/** If the client does not show the answer at this event to its agent, the context is restored with the next hook answer that the agent sees. */
const handleCompaction: HookHandler = async (ctx, { hears }, hook) => {
  const { run } = hook;
  if (hears) return { context: await recover(ctx, hook) };
  if (!run) return {};
  await ctx.write(async (tx) => {
    const { run: current } = await runsAround(tx.db, ctx, run.client_session, tx.now);
    if (current) await saveRun(tx, { ...current, compacted: 1 });
  });
  return {};
};

const HANDLERS: Readonly<Record<HookEvent, HookHandler>> = {
  'session-start': handleSessionStart,
  'session-end': handleSessionEnd,
  prompt: tellNews('open'),
  'before-tool': checkEdits,
  'after-tool': tellNews('fresh'),
  stop: handleStop,
  compact: handleCompaction,
  commit: checkEdits,
  push: checkEdits,
};

export interface HookParts extends SessionListeners {
  readonly gate: () => Gate;
}

export const hookTools = ({ gate, ...listeners }: HookParts): Implementation[] => [
  implement(hearHook, {
    run: async (asked, ctx) => {
      const rights = await rightsOf(gate(), ctx.principal);
      const question = { ...asked, hears: asked.hears && Object.values(rights).includes(true) };
      const context = await hookContextOf(ctx, question, rights, listeners);
      const hook = question.event === 'prompt' ? await continueSession(ctx, question, context) : context;
      const reply = await HANDLERS[question.event](ctx, question, hook, listeners);
      const text = [hook.notice, reply.context].filter((part) => typeof part === 'string').join('\n');
      return ok({
        decision: 'allow',
        reason: null,
        notice: null,
        session_id: hook.run?.session_id ?? null,
        ...reply,
        context: text === '' ? null : text,
        fail_closed: await failsClosed(ctx.reader, ctx.workspace),
      });
    },
  }),
];
