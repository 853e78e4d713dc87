import type { CallContext } from '../../../kernel/call.ts';
import { mayBeSameRepo } from '../../../kernel/repo.ts';
import type { Tx } from '../../../storage/write.ts';
import type { HookReply } from '../../../wire/hook-question.ts';
import { holderOf, liveClaimRows, readStrings, viewsFor } from '../../team/coordination/index.ts';
import { beginSession } from '../../team/sessions/index.ts';
import { endSession, type HookContext, ownClaims, type RunQuestion, runsAround, type SessionListeners } from './context.ts';
import { newsFor } from './news.ts';
import { recover } from './recover.ts';
import { saveRun } from './store.ts';
import { count, quoted, repoCalled, roughly, Sheet } from './words.ts';
import { foundBy, keepSnapshot, stillFound } from './working-tree.ts';

/** The run has a session of ours from here on: the one it had, if that has not ended. */
export async function sessionStarts(ctx: CallContext, question: RunQuestion, hook: HookContext): Promise<HookReply> {
  const started = await opened(ctx, question, hook);
  const session_id = started.run?.session_id ?? null;
  if (!question.hears) return { session_id };
  return { session_id, context: question.source === 'compact' ? await recover(ctx, started) : await welcome(ctx, question, started) };
}

/** A run whose agent has ended its session, or whose start was not heard, goes on in a new one. */
export async function withSession(ctx: CallContext, question: RunQuestion, hook: HookContext): Promise<HookContext> {
  if (hook.run?.session_id !== null) return hook;
  const begun = await opened(ctx, question, hook);
  const { session_id } = begun.run ?? hook.run;
  const told =
    question.hears && session_id !== null ? `Covenant: this run is session ${session_id} from now on; pass it as session_id to the covibe tools.` : undefined;
  return { ...begun, told };
}

async function opened(ctx: CallContext, question: RunQuestion, hook: HookContext): Promise<HookContext> {
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
    await saveRun(tx, { ...run, ...place, found: stillFound(run, question) });
    return run.session_id;
  }
  const { id } = await beginSession(tx, ctx, { agent_type: client, model, repo: place.repo ?? undefined, branch });
  const begun = question.event === 'session-start' ? { told_at_stop: null, found: foundBy(question) } : {};
  await saveRun(tx, { ...run, ...place, ...begun, session_id: id, automatic: 1 });
  return id;
}

const MAX_CLAIMS = 5;
/** Longer names are not worth their room: they can be looked up. */
const MAX_PATH = 60;
const MAX_HOLDER = 30;
/** In tokens, roughly. */
const REPO_ROOM = 35;
const CLAIMS_ROOM = 105;

/** In few words what the agent has to know at its start. */
async function welcome(ctx: CallContext, { repo }: RunQuestion, hook: HookContext): Promise<string | null> {
  const { sessionId, rights } = hook;
  const own = !rights.sessions
    ? undefined
    : sessionId === null
      ? 'Covenant: start a session with covibe_session start, and pass its session_id to the covibe tools.'
      : `Covenant: this run is session ${sessionId}; pass it as session_id to the covibe tools, and start no other.`;
  const called = rights.coordination ? repo : undefined;
  const here = called !== undefined && roughly(called) <= REPO_ROOM ? repoCalled(called) : undefined;
  const claims = called === undefined ? undefined : await claimsHere(ctx, called, hook);
  const lines = [own, here, claims, await waitingHere(ctx, hook)].filter((line) => line !== undefined);
  return lines.length === 0 ? null : lines.join('\n');
}

async function claimsHere(ctx: CallContext, repo: string, hook: HookContext): Promise<string | undefined> {
  const now = ctx.clock.now();
  const isOwn = ownClaims(ctx.principal, hook);
  const rows = (await liveClaimRows(ctx.reader, ctx.workspace, now)).filter(
    // A symbol denies nothing: two agents may work on two of one file.
    (claim) => claim.mode === 'exclusive' && readStrings(claim.paths).length > 0 && !isOwn(claim) && mayBeSameRepo(claim.repo, repo),
  );
  if (rows.length === 0) return undefined;
  const show = await viewsFor(ctx.reader, ctx.principal, now);
  const shown = rows.slice(0, MAX_CLAIMS).map((row) => {
    const view = show.claim(row);
    const [path = '', ...more] = view.paths;
    return `${quoted(path, MAX_PATH)}${more.length > 0 ? ` +${more.length}` : ''} (${holderOf(view).slice(0, MAX_HOLDER)})`;
  });
  const sheet = new Sheet(CLAIMS_ROOM, roughly);
  const named = shown.filter((claim) => sheet.put(claim));
  const rest = rows.length - named.length;
  return `Claimed by others, and denied to you: ${[...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ')}.`;
}

async function waitingHere(ctx: CallContext, hook: HookContext): Promise<string | undefined> {
  const { waiting, answers, handoffs, messages } = await newsFor(ctx.reader, ctx, hook, ctx.clock.now(), 'open');
  const all: [number, string][] = [
    [waiting.length, 'ask'],
    [answers.length, 'answer'],
    [handoffs.length, 'handoff'],
    [messages.length, 'message'],
  ];
  const some = all.filter(([number]) => number > 0).map(([number, noun]) => count(number, noun));
  return some.length === 0 ? undefined : `Waiting for you: ${some.join(', ')} (covibe_coordination list, message_list).`;
}

/** As the agent would end its session: what it claimed is released. */
export async function sessionEnds(ctx: CallContext, question: RunQuestion, { run, rights }: HookContext, listeners: SessionListeners): Promise<HookReply> {
  if (!run || run.ended_at !== null) return {};
  await ctx.write(async (tx) => {
    const { run: current, others } = await runsAround(tx.db, ctx, run.client_session, tx.now);
    if (!current || current.ended_at !== null) return;
    if (rights.sessions) await keepSnapshot(tx, ctx, question, current, listeners);
    if (current.session_id !== null) await endSession(tx, ctx, current.session_id, others, listeners.end ?? []);
    await saveRun(tx, { ...current, last_seen_at: tx.now, ended_at: tx.now });
  });
  return {};
}
