import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { SelectQueryBuilder } from 'kysely';
import type { Db } from '../../../storage/engine.ts';
import { firstSeqSince, readHead } from '../../../storage/journal.ts';
import { matching } from '../../../storage/rows.ts';
import type { Database } from '../../../storage/schema-rows.ts';

/** A process serves few workspaces at a time. The states of the least recently used ones are dropped. */
const MAX_WORKSPACES = 20;

export interface FoldRules<S, E> {
  /** How far back the fold counts. */
  readonly keepMs: number;
  /** The number of events read per query. */
  readonly pageSize: number;
  begin(): S;
  /** Selects the columns that are needed and the events that are counted. */
  read(page: SelectQueryBuilder<Database, 'events', object>): Promise<readonly E[]>;
  add(state: S, page: readonly E[]): void;
  forgetBefore(state: S, since: number): void;
}

interface FoldedJournal<S> {
  readonly state: S;
  /** The number of the last event that the state includes. */
  seq: number;
  /** Resolves when the previous reader has finished. Readers take turns, because only one at a time may advance the state. */
  busy: Promise<void>;
}

/**
 * Computes sums over the last days of a journal, because no index could provide them. Each event is read once, because every
 * reader continues where the last reader stopped. So a dashboard page that refreshes at every event reads only that event.
 */
export class JournalFold<S, E> {
  readonly #rules: FoldRules<S, E>;
  readonly #workspaces = new Map<string, FoldedJournal<S>>();

  constructor(rules: FoldRules<S, E>) {
    this.#rules = rules;
  }

  async read(db: Db, workspace: string, now: number): Promise<S> {
    const folded = this.#workspaces.get(workspace) ?? { state: this.#rules.begin(), seq: 0, busy: Promise.resolve() };
    // Moves the workspace to the end, as the most recently used.
    this.#workspaces.delete(workspace);
    this.#workspaces.set(workspace, folded);
    for (const oldest of [...this.#workspaces.keys()].slice(0, -MAX_WORKSPACES)) this.#workspaces.delete(oldest);
    const turn = folded.busy.then(() => this.#readOn(db, workspace, folded, now - this.#rules.keepMs));
    folded.busy = turn.catch(() => {});
    await turn;
    return folded.state;
  }

  async #readOn(db: Db, workspace: string, folded: FoldedJournal<S>, since: number): Promise<void> {
    const { pageSize, read, add, forgetBefore } = this.#rules;
    const head = (await readHead(db, workspace))?.seq ?? 0;
    if (folded.seq === 0) folded.seq = Math.max(0, (await firstSeqSince(db, workspace, since)) - 1);
    while (folded.seq < head) {
      const end = Math.min(head, folded.seq + pageSize);
      const page = matching(db, 'events', { workspace_id: workspace, seq: { '>': folded.seq, '<=': end } }).orderBy('seq');
      add(folded.state, await read(page));
      // This is updated together with the state. If this reader fails later, the next reader continues from here.
      folded.seq = end;
      // The first read after busy days takes long, so other calls run between its pages.
      await yieldToEventLoop();
    }
    forgetBefore(folded.state, since);
  }
}
