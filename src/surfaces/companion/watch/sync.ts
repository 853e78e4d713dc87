import { statSync } from 'node:fs';
import { presentRepos } from '../state.ts';
import { readClaudeCode } from '../usage-readers/claude-code.ts';
import { readCodexLog } from '../usage-readers/codex-log.ts';
import { readRollouts } from '../usage-readers/codex-rollouts.ts';
import { readCursor } from '../usage-readers/cursor.ts';
import { inboxesIn } from '../usage-readers/inbox.ts';
import type { Cursor, UsageBatch } from '../usage-readers/usage-batch.ts';
import { deliver } from './deliver.ts';
import { Inboxes, type LeftFile } from './inboxes.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { tokensFor } from './tokens.ts';

interface Reading {
  readonly cursor: Cursor;
  /** The store exists, but this version of Node cannot read it. */
  readonly tooOld?: boolean;
}
interface ReadOptions {
  readonly now: number;
  readonly only?: string | undefined;
}
type ReadSource = (env: NodeJS.ProcessEnv, cursor: Cursor, batch: UsageBatch, options: ReadOptions) => Promise<Reading>;

/** The usage stores on this machine, each with the agent that writes it. */
const SOURCES = {
  'claude-code': { agent: 'claude-code', read: async (env, cursor, batch, options) => ({ cursor: readClaudeCode(env, cursor, batch, options) }) },
  codex: { agent: 'codex', read: async (env, cursor, batch) => ({ cursor: readRollouts(env, cursor, batch) }) },
  'codex-log': { agent: 'codex', read: readCodexLog },
  cursor: { agent: 'cursor', read: (env, cursor, batch, { now }) => readCursor(env, cursor, batch, now) },
} satisfies Record<string, { agent: string; read: ReadSource }>;

type UsageSource = keyof typeof SOURCES;
const ALL = Object.keys(SOURCES) as UsageSource[];

interface SyncOptions {
  readonly origin: string;
  readonly sources?: readonly UsageSource[];
  /** If set, only this transcript of Claude Code is read. Its run has stopped, so its last message is complete. */
  readonly only?: string | undefined;
  /** The Covenant session of the run whose transcript is `only`. */
  readonly session_id?: string | undefined;
  /** Usage is reported since this time, instead of since the first start. */
  readonly since?: number | undefined;
  /** The folders with usage files. Default: the inboxes of the repositories in which agents work. */
  readonly inboxes?: readonly string[];
  /** If this signal aborts, undelivered events wait for the next sync. */
  readonly signal?: AbortSignal | undefined;
  readonly now?: number;
}

export interface SyncResult {
  readonly sent: number;
  /** The total number of events that were ever sent. */
  readonly sent_in_all: number;
  readonly waiting: number;
  readonly rejected: number;
  /** Unusable files in folders that are not a repository's inbox. They stay where they are. */
  readonly left: readonly LeftFile[];
  /** The reason why events wait. */
  readonly problem?: string | undefined;
  /** Stores and files that could not be read, with the reasons. */
  readonly unread: readonly string[];
  /** The id of another process that is syncing. If it is set, this process did nothing. */
  readonly heldBy?: number;
}

/** Records the current time as the start of usage reports, unless a start was recorded before. */
export function beginUsage(env: NodeJS.ProcessEnv, origin: string, now = Date.now()): void {
  const ledger = openLedger(env, origin, { now });
  if (!('heldBy' in ledger)) ledger.close();
}

/** Reads new usage from the stores and inboxes of this machine, and delivers it together with pending events. */
export async function syncUsage(env: NodeJS.ProcessEnv, options: SyncOptions): Promise<SyncResult> {
  const { origin, since, only, now = Date.now() } = options;
  const ledger = openLedger(env, origin, { now, since, begins: only === undefined ? undefined : beginningOf(only, now) });
  if ('heldBy' in ledger) return { sent: 0, sent_in_all: 0, waiting: 0, rejected: 0, left: [], unread: [], heldBy: ledger.heldBy };
  try {
    return await sync(env, ledger, { ...options, now });
  } finally {
    ledger.close();
  }
}

const DAY_MS = 86_400_000;

/**
 * Returns the start of usage reports for a run that reports before any watcher was started. This is the start of the run, but at most a day ago, because the
 * transcript of a resumed run contains old usage.
 */
function beginningOf(transcript: string, now: number): number {
  const born = statSync(transcript, { throwIfNoEntry: false })?.birthtimeMs || now;
  return Math.max(Math.min(born, now), now - DAY_MS);
}

async function sync(
  env: NodeJS.ProcessEnv,
  ledger: Ledger,
  { origin, sources, only, session_id, inboxes, signal, now }: SyncOptions & { now: number },
): Promise<SyncResult> {
  const tokens = tokensFor(env, origin);
  const before = ledger.sent;
  const unread = new Set<string>();
  // The stores of agents without a token are not read. Their usage is reported as soon as the agent has a token.
  const wanted = (sources ?? (inboxes ? [] : ALL)).filter((source) => tokens.of(SOURCES[source].agent) !== undefined);
  const boxes = new Inboxes(ledger, inboxes ?? (sources ? [] : inboxesIn(presentRepos(env).map(({ path }) => path))));
  const readStore = async (source: UsageSource): Promise<boolean> => {
    const read: ReadSource = SOURCES[source].read;
    const take = async (batch: UsageBatch, cursor: Cursor) => {
      const missed = (code: string) => void unread.add(`part of the usage in ${source} cannot be read now (${code})`);
      const reading = await read(env, cursor, { ...batch, missed }, { now, only });
      if (reading.tooOld) unread.add(`the usage in ${source} cannot be read: it needs Node 22.5 or newer`);
      return reading.cursor;
    };
    try {
      return await ledger.take(source, take, session_id === undefined ? {} : { session_id });
    } catch (error) {
      // If a store is locked, broken or in another format, the other stores are still read. The failed store is read again later.
      unread.add(`the usage in ${source} cannot be read now (${(error as NodeJS.ErrnoException).code ?? (error as Error).name})`);
      return false;
    }
  };
  let problem: string | undefined;
  // Repeats this as long as the ledger had no room for all events.
  for (let isMore = true; isMore && problem === undefined; ) {
    isMore = false;
    for (const source of wanted) if (await readStore(source)) isMore = true;
    if (await boxes.take()) isMore = true;
    problem = await deliver(ledger, origin, tokens, signal);
    boxes.flush();
  }
  const { rejected, left, unread: unreadFiles } = boxes;
  const sent = ledger.sent - before;
  return { sent, sent_in_all: ledger.sent, waiting: ledger.pending.length, rejected, left, problem, unread: [...unread, ...unreadFiles] };
}
