import type { CallContext } from '../../../kernel/call.ts';
import { mayBeSameRepo } from '../../../kernel/repo.ts';
import { holderOf, liveClaimRows, readStrings, viewsFor } from '../../team/coordination/index.ts';
import { BoundedText, estimateTokens } from './bounded-text.ts';
import type { HookContext } from './context.ts';
import type { RunQuestion } from './contract.ts';
import { newsFor } from './news.ts';
import { ownClaimFilter } from './ownership.ts';
import { countOf, quoted, repoInstruction } from './words.ts';

const MAX_CLAIMS = 5;
/** Longer names are shortened to save tokens. The agent can look them up. */
const MAX_PATH = 60;
const MAX_HOLDER = 30;
/** In estimated tokens. */
const REPO_ROOM = 35;
const CLAIMS_ROOM = 105;

/** Returns the few lines that an agent needs when it starts. */
export async function welcome(ctx: CallContext, { repo }: RunQuestion, hook: HookContext): Promise<string | null> {
  const { sessionId, rights } = hook;
  const own = !rights.sessions
    ? undefined
    : sessionId === null
      ? 'Covenant: call covibe_session start, and pass its session_id to the covibe tools.'
      : `Covenant: this run is session ${sessionId}. Pass it as session_id to the covibe tools; start no other.`;
  const called = rights.coordination ? repo : undefined;
  const here = called !== undefined && estimateTokens(called) <= REPO_ROOM ? repoInstruction(called) : undefined;
  const claims = called === undefined ? undefined : await claimsHere(ctx, called, hook);
  const lines = [own, here, claims, await waitingHere(ctx, hook)].filter((line) => line !== undefined);
  return lines.length === 0 ? null : lines.join('\n');
}

async function claimsHere(ctx: CallContext, repo: string, hook: HookContext): Promise<string | undefined> {
  const now = ctx.clock.now();
  const isOwn = ownClaimFilter(ctx.principal, hook);
  const rows = (await liveClaimRows(ctx.reader, ctx.workspace, now)).filter(
    // Claims on symbols are not listed, because they deny no edit: two agents may work on two symbols of one file.
    (claim) => claim.mode === 'exclusive' && readStrings(claim.paths).length > 0 && !isOwn(claim) && mayBeSameRepo(claim.repo, repo),
  );
  if (rows.length === 0) return undefined;
  const show = await viewsFor(ctx.reader, ctx.principal, now);
  const shown = rows.slice(0, MAX_CLAIMS).map((row) => {
    const view = show.claim(row);
    const [path = '', ...more] = view.paths;
    return `${quoted(path, MAX_PATH)}${more.length > 0 ? ` +${more.length}` : ''} (${holderOf(view).slice(0, MAX_HOLDER)})`;
  });
  const list = new BoundedText(CLAIMS_ROOM, estimateTokens);
  const named = shown.filter((claim) => list.add(claim));
  const rest = rows.length - named.length;
  return `Claimed by others, so your edits are denied: ${[...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ')}.`;
}

async function waitingHere(ctx: CallContext, hook: HookContext): Promise<string | undefined> {
  const { waiting, answers, handoffs, messages } = await newsFor(ctx.reader, ctx, hook, ctx.clock.now(), 'open');
  const all: [number, string][] = [
    [waiting.length, 'ask'],
    [answers.length, 'answer'],
    [handoffs.length, 'handoff'],
    [messages.length, 'message'],
  ];
  const some = all.filter(([number]) => number > 0).map(([number, noun]) => countOf(number, noun));
  return some.length === 0 ? undefined : `Waiting for you: ${some.join(', ')} (covibe_coordination list, message_list).`;
}
