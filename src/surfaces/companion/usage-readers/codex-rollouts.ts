import { codexStores } from '../../../clients/codex.ts';
import { recordOf } from '../../../wire/json.ts';
import { hashOf } from '../hash.ts';
import { codexEvent } from './codex-event.ts';
import { type FileCursor, type FoundFile, filesOf, linesFrom, objectOn, readFiles } from './log-files.ts';
import { type Cursor, momentOf, type UsageBatch } from './usage-batch.ts';

export const rolloutsOf = (env: NodeJS.ProcessEnv): FoundFile[] => filesOf(codexStores(env).rollouts);

/** Reads the rollouts that Codex writes in the terminal and on the desktop. Every stored thread has a complete rollout. */
export function readRollouts(env: NodeJS.ProcessEnv, cursors: Cursor, batch: UsageBatch): Cursor {
  const rollouts = rolloutsOf(env);
  return readFiles<RolloutCursor>(rollouts, movedWith(rollouts, cursors), batch, readRollout);
}

/** Keeps the cursor of a rollout that was archived, because Codex only moves the file to another folder. */
function movedWith(files: readonly FoundFile[], cursors: Cursor): Cursor {
  const byName = new Map(Object.entries(cursors).map(([path, cursor]) => [path.split(/[\\/]/).at(-1), cursor]));
  const moved = files.flatMap(({ path }) => {
    const known = cursors[path] ?? byName.get(path.split(/[\\/]/).at(-1));
    return known === undefined ? [] : [[path, known] as const];
  });
  return { ...cursors, ...Object.fromEntries(moved) };
}

interface RolloutCursor extends FileCursor {
  readonly model?: string | undefined;
  /**
   * The thread from which this thread was forked, or else the thread itself. A fork contains
   * copies of earlier counters. With this id they give the same events as the originals.
   */
  readonly origin?: string | undefined;
  /** Whether the file contains usage lines with the id of their response. If it does, its other usage lines repeat the same numbers and are skipped. */
  readonly named?: boolean | undefined;
}

/** Reads the rollout of a thread. Its `token_usage_record` lines contain the id of the response. Older versions of Codex write only `token_count` lines. */
function readRollout({ path }: FoundFile, from: RolloutCursor | undefined, batch: UsageBatch): RolloutCursor {
  let cursor: RolloutCursor = from ?? { offset: 0 };
  for (const line of linesFrom(path, cursor.offset)) {
    if (batch.full()) break;
    cursor = { ...cursor, offset: line.end };
    const entry = objectOn(line, 'session_meta', 'turn_context', 'token_usage_record', 'token_count');
    const payload = recordOf(entry?.payload);
    if (!entry || !payload) continue;
    if (entry.type === 'session_meta') cursor = { ...cursor, origin: String(payload.forked_from_id ?? payload.id) };
    if (entry.type === 'turn_context' && typeof payload.model === 'string') cursor = { ...cursor, model: payload.model.slice(0, 200) };
    const isRecord = entry.type === 'token_usage_record' && typeof payload.response_id === 'string';
    if (isRecord) cursor = { ...cursor, named: true };
    if ((momentOf(entry.timestamp) ?? 0) < batch.since) continue;
    const event = isRecord ? codexEvent(String(payload.response_id), cursor.model, payload.usage) : countedBy(entry, cursor);
    if (event) batch.put(event);
  }
  return cursor;
}

/**
 * Makes an event from a `token_count` line. Codex repeats this line with every rate-limit update. The
 * id of the event depends on the totals of the thread, so that a repeated line gives the same event.
 */
function countedBy({ type, payload: said }: Record<string, unknown>, { named, origin, model }: RolloutCursor) {
  const payload = recordOf(said);
  const info = recordOf(payload?.info);
  if (named || type !== 'event_msg' || payload?.type !== 'token_count' || !info) return undefined;
  return codexEvent(`${origin} ${hashOf(JSON.stringify([info.total_token_usage, info.last_token_usage]))}`, model, info.last_token_usage);
}
