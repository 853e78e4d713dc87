import type { CallContext } from '../../../kernel/call.ts';
import type { Tx } from '../../../storage/write.ts';
import type { HookReply } from '../../../wire/hook-question.ts';
import { beginSession } from '../../team/sessions/index.ts';
import { type HookContext, runsAround } from './context.ts';
import type { RunQuestion } from './contract.ts';
import { recover } from './recover.ts';
import { endSession, type SessionListeners } from './session.ts';
import { saveRun } from './store.ts';
import { welcome } from './welcome.ts';
import { changesAtStart, reportWorkingTree, updateChangesAtStart } from './working-tree.ts';

/** Returns the run's session if it is still open, and otherwise starts a new one. */
export async function handleSessionStart(ctx: CallContext, question: RunQuestion, hook: HookContext): Promise<HookReply> {
  const started = await withOpenSession(ctx, question, hook);
  const session_id = started.run?.session_id ?? null;
  if (!question.hears) return { session_id };
  return { session_id, context: question.source === 'compact' ? await recover(ctx, started) : await welcome(ctx, question, started) };
}

/** Starts a new session for a run whose agent ended its session, or whose start was not reported. */
export async function continueSession(ctx: CallContext, question: RunQuestion, hook: HookContext): Promise<HookContext> {
  if (hook.run?.session_id !== null) return hook;
  const begun = await withOpenSession(ctx, question, hook);
  const { session_id } = begun.run ?? hook.run;
  const notice =
    question.hears && session_id !== null ? `Covenant: this run is now session ${session_id}. Pass it as session_id to the covibe tools.` : undefined;
  return { ...begun, notice };
}

async function withOpenSession(ctx: CallContext, question: RunQuestion, hook: HookContext): Promise<HookContext> {
  const { run, rights } = hook;
  if (!run || !rights.sessions) return hook;
  const sessionId = await ctx.write((tx) => openSession(tx, ctx, question, run.client_session));
  return { ...hook, run: { ...run, session_id: sessionId }, sessionId };
}

async function openSession(tx: Tx, ctx: CallContext, question: RunQuestion, clientSession: string): Promise<string | null> {
  const { run } = await runsAround(tx.db, ctx, clientSession, tx.now);
  if (!run) return null;
  const { client, model, repo, branch, folder } = question;
  const place = { repo: repo ?? run.repo, folder: folder ?? run.folder };
  if (run.session_id !== null) {
    await saveRun(tx, { ...run, ...place, found: updateChangesAtStart(run, question) });
    return run.session_id;
  }
  const { id } = await beginSession(tx, ctx, { agent_type: client, model, repo: place.repo ?? undefined, branch });
  const begun = question.event === 'session-start' ? { told_at_stop: null, found: changesAtStart(question) } : {};
  await saveRun(tx, { ...run, ...place, ...begun, session_id: id, automatic: 1 });
  return id;
}

/** Ends the session of the run as if the agent had ended it, which releases its claims. */
export async function handleSessionEnd(ctx: CallContext, question: RunQuestion, { run, rights }: HookContext, listeners: SessionListeners): Promise<HookReply> {
  if (!run || run.ended_at !== null) return {};
  await ctx.write(async (tx) => {
    const { run: current, others } = await runsAround(tx.db, ctx, run.client_session, tx.now);
    if (!current || current.ended_at !== null) return;
    if (rights.sessions) await reportWorkingTree(tx, ctx, question, current, listeners);
    if (current.session_id !== null) await endSession(tx, ctx, current.session_id, others, listeners.end ?? []);
    await saveRun(tx, { ...current, last_seen_at: tx.now, ended_at: tx.now });
  });
  return {};
}
