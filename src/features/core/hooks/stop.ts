import { hash } from 'node:crypto';
import type { CallContext } from '../../../kernel/call.ts';
import type { ClientRunRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { HookReply } from '../../../wire/hook-question.ts';
import { markDelivered, type Waiting, waitingFor } from '../../team/coordination/index.ts';
import { type HookContext, runsAround } from './context.ts';
import type { RunQuestion } from './contract.ts';
import { findOpenWork, type OpenWork } from './open-work.ts';
import type { SessionListeners } from './session.ts';
import { saveRun } from './store.ts';
import { countOf, firstPaths, quoted } from './words.ts';
import { type ChangesSinceStart, changesSinceStart, reportWorkingTree, updateChangesAtStart } from './working-tree.ts';

interface LeftOpen extends OpenWork, ChangesSinceStart {
  readonly asks: Waiting['waiting'];
}

/**
 * Reports open work when an agent stops. The first stop in each state of the work is blocked, so that the agent sees the report.
 * At later stops, only the person is notified.
 */
export async function handleStop(ctx: CallContext, question: RunQuestion, hook: HookContext, listeners: SessionListeners): Promise<HookReply> {
  const { run } = hook;
  if (!run) return noticeOf(await findLeftOpen(ctx, question, hook));
  return await ctx.write((tx) => answerStop(tx, ctx, question, { ...hook, run }, listeners));
}

async function answerStop(
  tx: Tx,
  ctx: CallContext,
  question: RunQuestion,
  hook: HookContext & { readonly run: ClientRunRow },
  listeners: SessionListeners,
): Promise<HookReply> {
  const { run = hook.run } = await runsAround(tx.db, ctx, hook.run.client_session, tx.now);
  if (hook.rights.sessions) await reportWorkingTree(tx, ctx, question, run, listeners);
  const found = updateChangesAtStart(run, question);
  const open = await findLeftOpen({ ...ctx, reader: tx.db }, question, { ...hook, run: { ...run, found } });
  const state = isNothingOpen(open) ? null : digestOf(open);
  // If only the person was notified this time, the agent must still get the report at its next stop.
  const told_at_stop = question.again && state !== null ? run.told_at_stop : state;
  if (told_at_stop !== run.told_at_stop || found !== run.found) await saveRun(tx, { ...run, found, told_at_stop });
  if (state === null || state === run.told_at_stop || question.again) return noticeOf(open);
  await markDelivered(tx, { ...ctx, session: hook.sessionId }, { waiting: open.asks.slice(0, MAX_NAMED), answers: [] });
  return { decision: 'deny', reason: reasonOf(open) };
}

async function findLeftOpen(
  ctx: Pick<CallContext, 'reader' | 'workspace' | 'principal' | 'clock'>,
  question: RunQuestion,
  hook: HookContext,
): Promise<LeftOpen> {
  const now = ctx.clock.now();
  const asks = hook.rights.coordination ? (await waitingFor(ctx.reader, ctx.workspace, ctx.principal, now, hook.sessionId)).waiting : [];
  return { ...(await findOpenWork(ctx.reader, ctx, hook, now)), asks, ...changesSinceStart(hook.run, question) };
}

const isNothingOpen = ({ tasks, held, asks, dirty, unpushed, commits }: LeftOpen): boolean =>
  tasks.length + held.length + asks.length + dirty.length + unpushed.length + commits === 0;

/**
 * Identifies a state of open work. It includes whether there are changed files, but not which files, because these differ in
 * every turn and most people want to review them before a commit.
 */
const digestOf = ({ tasks, held, asks, dirty, unpushed, commits }: LeftOpen): string => {
  const ids = [...tasks.map(({ id }) => id), ...held.map(({ id, fence }) => `${id} ${fence}`), ...asks.map(({ ask_id }) => ask_id)].sort();
  return hash('sha256', JSON.stringify([ids, dirty.length > 0, unpushed.length + commits > 0]));
};

const MAX_NAMED = 5;
const TITLE = 100;

function reasonOf({ tasks, held, asks, dirty, unpushed, commits }: LeftOpen): string {
  const lines: string[] = [];
  for (const { id, title, status } of tasks.slice(0, MAX_NAMED)) {
    lines.push(
      `- Task ${id} ${quoted(title, TITLE)} is ${status}. Call covibe_task (task_id: "${id}") with complete (result_summary), update (status: "blocked") or cancel (reason).`,
    );
  }
  for (const { id, name, status, assigned_agent_id } of held.slice(0, MAX_NAMED)) {
    lines.push(
      `- Workflow task ${id} ${quoted(name, TITLE)} is ${status}, held by your agent ${assigned_agent_id}. Call task_update_status (id: "${id}", status: …) or task_release (task_id: "${id}", agent_id: "${assigned_agent_id}").`,
    );
  }
  for (const { ask_id, from, message } of asks.slice(0, MAX_NAMED)) {
    lines.push(`- ${from} waits for your answer to ${quoted(message, TITLE)}: covibe_coordination reply (ask_id: "${ask_id}", message: …).`);
  }
  const cut = [tasks, held, asks].reduce((sum, { length }) => sum + Math.max(0, length - MAX_NAMED), 0);
  if (cut > 0) lines.push(`- ${cut} more: call covibe_team state.`);
  if (dirty.length > 0)
    lines.push(`- ${countOf(dirty.length, 'file')} changed and not committed: ${firstPaths(dirty, MAX_NAMED)}. Commit them if you were asked to.`);
  if (unpushed.length + commits > 0) lines.push(`- Not pushed: ${notPushed(unpushed, commits)}. Push if you were asked to.`);
  return `Open work before you stop:\n${lines.join('\n')}\nComplete what is done and report what is not. Then stop: this reminder appears once.`;
}

const notPushed = (files: readonly string[], commits: number): string =>
  [...(commits > 0 ? [countOf(commits, 'commit')] : []), ...(files.length > 0 ? [countOf(files.length, 'file')] : [])].join(' with ');

/** Returns the notice for the person, for the case that the agent has already seen the report. */
function noticeOf(open: LeftOpen): HookReply {
  if (isNothingOpen(open)) return {};
  const { tasks, held, asks, dirty, unpushed, commits } = open;
  const parts = [
    tasks.length > 0 ? countOf(tasks.length, 'open task') : undefined,
    held.length > 0 ? countOf(held.length, 'claimed workflow task') : undefined,
    asks.length > 0 ? countOf(asks.length, 'unanswered ask') : undefined,
    dirty.length > 0 ? `${countOf(dirty.length, 'file')} not committed` : undefined,
    unpushed.length + commits > 0 ? `${notPushed(unpushed, commits)} not pushed` : undefined,
  ];
  return { notice: `Covenant: unfinished: ${parts.filter((part) => part !== undefined).join(', ')}.` };
}
