import type { CallContext } from '../../../kernel/call.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { liveClaimRows, readStrings } from '../../team/coordination/index.ts';
import { notesOfSession } from '../../team/notes/index.ts';
import { latestContextOf } from '../../team/sessions/index.ts';
import { filesOf } from '../../team/tasks/index.ts';
import { loadTokenizer, previewOf } from '../../workflow/recovery/index.ts';
import type { WorkflowTaskRow } from '../../workflow/workflows/index.ts';
import { callingDeveloper } from '../identity/index.ts';
import { BoundedText } from './bounded-text.ts';
import { type HookContext, runsAround } from './context.ts';
import { writeNews } from './news.ts';
import { findOpenWork } from './open-work.ts';
import { ownClaimFilter } from './ownership.ts';
import { saveRun } from './store.ts';
import { firstPaths, quoted, repoInstruction } from './words.ts';

/** The maximum size of the whole text, in o200k_base tokens. */
const MAX_TOKENS = 1_500;
/** The limit for the agent's own work, in tokens. The rest is for news from others. */
const OWN_TOKENS = 1_100;
/** The smallest useful size of a task pack, in tokens. */
const LEAST_PACK = 300;
/** The number of tokens that are reserved for the list of omissions. */
const RESERVED = 60;

/** Returns the text that an agent needs after its context was compacted, and marks the news in it as delivered. */
export async function recover(ctx: CallContext, hook: HookContext): Promise<string> {
  const tokens = await loadTokenizer();
  const size = (text: string) => tokens.count(text);
  const own = await ownWork(ctx, hook, new BoundedText(OWN_TOKENS - RESERVED, size));
  const room = MAX_TOKENS - RESERVED - size(`${own}\n`);
  const news = await ctx.write(async (tx) => {
    const run = hook.run && (await runsAround(tx.db, ctx, hook.run.client_session, tx.now)).run;
    if (run?.compacted === 1) await saveRun(tx, { ...run, compacted: 0 });
    return await writeNews(tx, ctx, hook, 'open', new BoundedText(room, size));
  });
  return news === null ? own : `${own}\n${news}`;
}

interface Section {
  /** The noun for these lines in the list of omissions. */
  readonly noun: string;
  readonly lines: readonly string[];
}

async function ownWork(ctx: CallContext, hook: HookContext, room: BoundedText): Promise<string> {
  const now = ctx.clock.now();
  const { sessionId, run, rights } = hook;
  const { tasks, held } = await findOpenWork(ctx.reader, ctx, hook, now);
  const session = sessionId === null || !rights.sessions ? '' : ` This run is session ${sessionId}: pass it as session_id.`;
  const repo = run?.repo && rights.coordination ? ` ${repoInstruction(run.repo)}` : '';
  room.add(`Covenant: your context was compacted. The server's record of your work is below.${session}${repo}`);
  const sections: Section[] = [
    {
      noun: 'tasks',
      lines: tasks.map(
        (task) =>
          `- Task ${task.id}, ${task.status}: ${quoted(task.title, 150)}${task.scope === null ? '' : `, scope ${quoted(task.scope, 300)}`}${
            filesOf(task).length > 0 ? `, files ${firstPaths(filesOf(task), 10)}` : ''
          }.`,
      ),
    },
    {
      noun: 'workflow tasks',
      lines: held.map(
        ({ id, name, status, assigned_agent_id, fence }) =>
          `- Workflow task ${id}, ${status}: ${quoted(name, 150)}, held by your agent ${assigned_agent_id} with fence ${fence}.`,
      ),
    },
    ...(rights.coordination ? [{ noun: 'claims', lines: await claimLines(ctx, hook, now) }] : []),
    ...(rights.sessions ? await sessionSections(ctx, hook, now) : []),
  ];
  const cut = sections.flatMap(({ noun, lines }) => {
    const left = lines.filter((line) => !room.add(line)).length;
    return left > 0 ? [`${left} of ${lines.length} ${noun}`] : [];
  });
  const [task] = held;
  if (task && !(await putPack(ctx, task, room))) cut.push(`the context of ${task.id}`);
  const more =
    cut.length === 0 ? '' : `\nOmitted for length: ${cut.join(', ')}. For the rest call covibe_team state, covibe_coordination list or task_load_context.`;
  return `${room.text}${more}`;
}

const sessionSections = async (ctx: CallContext, hook: HookContext, now: number): Promise<Section[]> => [
  { noun: 'decisions and blockers', lines: hook.sessionId === null ? [] : await noteLines(ctx, hook.sessionId) },
  { noun: 'published context', lines: await contextLines(ctx, hook, now) },
];

async function claimLines(ctx: CallContext, hook: HookContext, now: number): Promise<string[]> {
  const isOwn = ownClaimFilter(ctx.principal, hook);
  const rows = (await liveClaimRows(ctx.reader, ctx.workspace, now, callingDeveloper(ctx.principal))).filter(isOwn);
  return rows.map(({ id, mode, paths, symbols, reason, expires_at }) => {
    const what = firstPaths([...readStrings(paths), ...readStrings(symbols)], 5);
    return `- Claim ${id} (${mode}) on ${what} until ${new Date(expires_at).toISOString()}${reason === null ? '' : `, for ${quoted(reason, 150)}`}.`;
  });
}

const MAX_NOTES = 10;

async function noteLines({ reader, workspace }: CallContext, sessionId: string): Promise<string[]> {
  const notes = await notesOfSession(reader, workspace, sessionId, MAX_NOTES);
  return notes.map(({ kind, title, body }) => `- Your ${kind}: ${quoted(title, 150)}${body === null ? '' : `, ${quoted(body, 300)}`}.`);
}

async function contextLines(ctx: CallContext, { sessionId, run }: HookContext, now: number): Promise<string[]> {
  const place = run?.repo ? { repo: run.repo } : {};
  const context = await latestContextOf(ctx.reader, ctx.workspace, callingDeveloper(ctx.principal), place, now);
  // A context of another session is not used, because another agent of the same developer may have published it.
  if (!context || (context.session_id !== null && context.session_id !== sessionId)) return [];
  const list = (title: string, items: readonly string[]) => {
    const shown = items.slice(0, 5).map((item) => quoted(item, 150));
    return shown.length === 0 ? [] : [`  ${title}: ${shown.join(', ')}.`];
  };
  return [
    `- Your published context ${context.id}: ${quoted(context.title, 150)}, ${quoted(context.summary, 600)}.`,
    ...list('Next', readStrings(context.next_actions)),
    ...list('Blockers', readStrings(context.blockers)),
  ];
}

/** Adds the result of `task_load_context` for the task, if it fits. */
async function putPack({ reader }: CallContext, task: WorkflowTaskRow, room: BoundedText): Promise<boolean> {
  const heading = `Result of task_load_context for ${task.id}:`;
  if (room.left < LEAST_PACK || !room.add(heading)) return false;
  try {
    const { pack } = await previewOf(reader, task, room.left - 2);
    return room.add(JSON.stringify(pack));
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
