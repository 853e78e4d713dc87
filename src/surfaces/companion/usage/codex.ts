import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { userHome } from '../home.ts';
import { completedIn } from './codex-log.ts';
import { type RolloutCursor, readRollout } from './codex-rollouts.ts';
import { type Basket, type Cursor, momentOf } from './event.ts';
import { type FileCursor, type FoundFile, filesUnder, readFiles } from './files.ts';
import { linesFrom, recordOf } from './lines.ts';
import { type ForeignStore, openForeign } from './sqlite.ts';

interface LogCursor extends FileCursor {
  /** Whole responses were logged: counters alone are the same again. */
  readonly whole?: boolean | undefined;
}

const homeOf = (env: NodeJS.ProcessEnv): string => env.CODEX_HOME || join(userHome(env), '.codex');
const rolloutsOf = (env: NodeJS.ProcessEnv): FoundFile[] =>
  ['sessions', 'archived_sessions'].flatMap((folder) => filesUnder(join(homeOf(env), folder), (name) => /^rollout-.+\.jsonl$/.test(name)));

/** Codex, in the terminal and on the desktop: each thread that it keeps has a rollout, which loses nothing. */
export function readRollouts(env: NodeJS.ProcessEnv, cursors: Cursor, basket: Basket): Cursor {
  const rollouts = rolloutsOf(env);
  return readFiles<RolloutCursor>(rollouts, movedWith(rollouts, cursors), basket, readRollout);
}

/** Its log, which is soon cleared, has the threads that it does not keep: a response that stands in both is read from the rollout. */
export async function readCodexLog(env: NodeJS.ProcessEnv, cursor: Cursor, basket: Basket): Promise<{ cursor: Cursor; tooOld: boolean }> {
  const home = homeOf(env);
  const rollouts = rolloutsOf(env);
  const isKept = (thread: string | undefined) => thread !== undefined && rollouts.some(({ path }) => path.includes(thread));
  const database = newestLog(env.CODEX_SQLITE_HOME || home);
  const store = database === undefined ? undefined : await openForeign(database);
  if (store === 'too-old') return { cursor, tooOld: true };
  if (store) {
    try {
      return { cursor: { ...cursor, log: { path: database, id: readLog(store, lastId(cursor, database), basket, isKept) } }, tooOld: false };
    } finally {
      store.close();
    }
  }
  // Before it kept its log in a database.
  const logs = database ? [] : [join(home, 'log'), join(userHome(env), 'Library/Logs/com.openai.codex')].flatMap((folder) => filesUnder(folder, isLog));
  const texts = readFiles<LogCursor>(logs, recordOf(cursor.texts) ?? {}, basket, (file, from) => readText(file, from, basket, isKept));
  return { cursor: { ...cursor, texts }, tooOld: false };
}

const isLog = (name: string): boolean => name.endsWith('.log');

/** A rollout that was archived is the same file in another folder. */
function movedWith(files: readonly FoundFile[], cursors: Cursor): Cursor {
  const byName = new Map(Object.entries(cursors).map(([path, cursor]) => [path.split(/[\\/]/).at(-1), cursor]));
  const moved = files.flatMap(({ path }) => {
    const known = cursors[path] ?? byName.get(path.split(/[\\/]/).at(-1));
    return known === undefined ? [] : [[path, known] as const];
  });
  return { ...cursors, ...Object.fromEntries(moved) };
}

function newestLog(folder: string): string | undefined {
  const number = (name: string) => Number(/^logs_(\d+)\.sqlite$/.exec(name)?.[1] ?? Number.NaN);
  try {
    const [newest] = readdirSync(folder)
      .filter((name) => !Number.isNaN(number(name)))
      .sort((one, other) => number(other) - number(one));
    return newest && join(folder, newest);
  } catch {
    return undefined;
  }
}

function lastId(cursor: Cursor, database: string | undefined): number {
  const known = recordOf(cursor.log);
  return known?.path === database && typeof known?.id === 'number' ? known.id : 0;
}

const AT_ONCE = 200;
const COMPLETED = "feedback_log_body like '%response.completed%' and length(feedback_log_body) < 4000000";

function readLog(store: ForeignStore, from: number, basket: Basket, isKept: (thread: string | undefined) => boolean): number {
  const newest = Number(store.all('select coalesce(max(id), 0) as id from logs')[0]?.id ?? 0);
  // Cleared, or another database by the same name.
  let last = newest < from ? 0 : from;
  const hasWhole = (thread: string) =>
    store.all(`select 1 from logs where thread_id = ? and feedback_log_body like '%{"type":"response.completed"%' limit 1`, thread).length > 0;
  for (;;) {
    const rows = store.all(
      `select id, target, thread_id, feedback_log_body as body from logs where id > ? and id <= ? and ts >= ? and ${COMPLETED} order by id limit ${AT_ONCE}`,
      last,
      newest,
      Math.floor(basket.since / 1000),
    );
    for (const { id, target, thread_id, body } of rows) {
      if (basket.full()) return last;
      last = Number(id);
      const completed = completedIn(String(body), { target: String(target), thread: typeof thread_id === 'string' ? thread_id : undefined });
      if (!completed?.event || isKept(completed.thread)) continue;
      if (completed.form === 'whole' || completed.thread === undefined || !hasWhole(completed.thread)) basket.put(completed.event);
    }
    if (rows.length < AT_ONCE) return newest;
  }
}

function readText({ path }: FoundFile, from: LogCursor | undefined, basket: Basket, isKept: (thread: string | undefined) => boolean): LogCursor {
  let cursor: LogCursor = from ?? { offset: 0 };
  for (const line of linesFrom(path, cursor.offset)) {
    if (basket.full()) break;
    cursor = { ...cursor, offset: line.end };
    if (!line.bytes?.includes('response.completed')) continue;
    const text = line.bytes.toString('utf8');
    const completed = completedIn(text);
    if (completed?.form === 'whole') cursor = { ...cursor, whole: true };
    const isOld = (momentOf(/\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(text)?.[0]) ?? 0) < basket.since;
    if (!completed?.event || isOld || isKept(completed.thread) || (completed.form === 'counted' && cursor.whole)) continue;
    basket.put(completed.event);
  }
  return cursor;
}
