import { setTimeout as pause } from 'node:timers/promises';
import { VERSION } from '../../../version.ts';
import { type CliOutput, counted } from '../../cli/output.ts';
import { type WatchStatus, writeWatchStatus } from '../state.ts';
import type { Updater } from '../update/updater.ts';
import { sendHeartbeat } from './heartbeat.ts';
import { type SyncResult, syncUsage } from './sync.ts';
import { MISSING_TOKEN_PROBLEM, tokensFor } from './tokens.ts';

interface WatchOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly origin: string;
  readonly intervalMs: number;
  readonly since?: number | undefined;
  readonly out: CliOutput;
  readonly signal: AbortSignal;
  readonly updater: Updater;
}

/** The time between two heartbeats. It is short enough to show who is at work. It is not shorter, because the server records each heartbeat. */
const HEARTBEAT_MS = 5 * 60_000;
const LONGEST_PAUSE_MS = 5 * 60_000;

/** Watches a machine. Sends heartbeats, usage and inbox files until it is stopped, and prints changes of its state. */
export class MachineWatcher {
  readonly #o: WatchOptions;
  #status: WatchStatus;
  #heartbeatDue = 0;
  #failures = 0;
  #repos = 0;
  #told = new Set<string>();

  constructor(options: WatchOptions) {
    this.#o = options;
    this.#status = { pid: process.pid, version: VERSION, origin: options.origin, last_sync_at: null, sent: 0, waiting: 0, problem: null };
  }

  /** Runs until it is stopped. Returns `handover` if a new release was installed and has to take over. */
  async run(): Promise<'ended' | 'handover'> {
    const { signal, intervalMs } = this.#o;
    let handover = false;
    while (!signal.aborted && !handover) {
      handover = await this.tick();
      const wait = Math.min(intervalMs * 2 ** this.#failures, Math.max(LONGEST_PAUSE_MS, intervalMs));
      if (!handover) await pause(wait, undefined, { signal }).catch(() => {});
    }
    this.#write({ pid: null });
    return handover ? 'handover' : 'ended';
  }

  /** Runs one round. Returns whether a new release has to take over. */
  async tick(): Promise<boolean> {
    const { env, origin, since, signal, out } = this.#o;
    const { machine } = tokensFor(env, origin);
    const heartbeat = machine === undefined ? { problem: MISSING_TOKEN_PROBLEM } : await this.#heartbeat(machine);
    const synced = await this.#sync(() => syncUsage(env, { origin, since, signal }));
    if (synced.sent > 0) out.note(`${out.mark.good} ${counted(synced.sent, 'usage event')} sent`);
    if (synced.rejected > 0) out.note(`${out.mark.wait} ${counted(synced.rejected, 'usage file')} rejected: see .covibe/telemetry/rejected`);
    for (const reason of synced.unread) this.#once(reason);
    this.#say(heartbeat.problem ?? synced.problem ?? null, synced);
    return heartbeat.handover === true;
  }

  async #heartbeat(token: string): Promise<{ problem?: string | undefined; handover?: boolean }> {
    const { env, origin, out, updater } = this.#o;
    if (Date.now() < this.#heartbeatDue) return {};
    const { repos, offer, problem } = await sendHeartbeat(env, origin, token);
    if (problem !== undefined) return { problem };
    this.#heartbeatDue = Date.now() + HEARTBEAT_MS;
    if (repos !== this.#repos) out.note(`${out.mark.good} ${repos === 1 ? '1 repository' : `${repos} repositories`} registered`);
    this.#repos = repos;
    return { handover: offer !== undefined && (await updater.consider(offer, token)) };
  }

  /** An error in one round must not end the watcher. */
  async #sync(round: () => Promise<SyncResult>): Promise<SyncResult> {
    try {
      return await round();
    } catch (error) {
      const { waiting, sent } = this.#status;
      const code = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
      return { sent: 0, sent_in_all: sent, waiting, rejected: 0, left: [], unread: [], problem: `reading usage failed (${code})` };
    }
  }

  #say(problem: string | null, { heldBy, sent_in_all, waiting }: SyncResult): void {
    const { out } = this.#o;
    const before = this.#status.problem;
    const counts = heldBy === undefined ? { sent: sent_in_all, waiting } : {};
    this.#failures = problem === null ? 0 : Math.min(this.#failures + 1, 10);
    this.#write({ ...counts, problem, ...(problem === null ? { last_sync_at: Date.now() } : {}) });
    if (heldBy !== undefined) this.#once(`process ${heldBy} already reports this machine's usage, so this process does not`);
    if (problem !== null && problem !== before) out.note(`${out.mark.wait} ${problem}${waiting > 0 ? `; ${counted(waiting, 'usage event')} waiting` : ''}`);
    if (problem === null && before !== null) out.note(`${out.mark.good} recovered`);
  }

  #once(text: string): void {
    if (!this.#told.has(text)) this.#o.out.note(`${this.#o.out.mark.quiet} ${text}`);
    this.#told.add(text);
  }

  #write(changed: Partial<WatchStatus>): void {
    this.#status = { ...this.#status, ...changed };
    try {
      writeWatchStatus(this.#o.env, this.#status);
    } catch (error) {
      // The disk may be full. The watcher continues, because the disk may have room later, and usage stays in its stores until then.
      this.#once(`~/.covibe cannot be written (${(error as NodeJS.ErrnoException).code}), so covibe-local doctor cannot see this watcher`);
    }
  }

  get status(): WatchStatus {
    return this.#status;
  }
}
