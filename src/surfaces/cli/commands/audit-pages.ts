import type { ChainPoint, JournalEvent } from '../../../storage/journal.ts';
import type { Client } from '../client.ts';
import { CliError } from '../command.ts';

export const PAGE = 1_000;

export interface Page {
  items: JournalEvent[];
  head: ChainPoint;
  /** What the first event there is is chained to. */
  anchor: ChainPoint;
  looked: { from: number; to: number };
}

type Ends = Pick<Page, 'head' | 'anchor'>;

/** Reads up to where the journal ended when we began: reading is itself journaled, and would never end. */
export async function everyPage(client: Client, use: (events: JournalEvent[], ends: Ends) => void, filter: Record<string, string> = {}): Promise<Ends> {
  let ends: Ends | undefined;
  for (let after = 0; ; ) {
    const { items, head, anchor, looked } = (await client.action('events.list', { after, limit: PAGE, ...filter })) as unknown as Page;
    // What is missing then was not taken by anybody else: it must not look like a break.
    if (ends && anchor.seq > after) throw new CliError('JOURNAL_PRUNED', 'The journal was pruned while it was read.', 'Run the command again.');
    ends ??= { head, anchor };
    const last = ends.head.seq;
    use(
      items.filter((event) => event.seq <= last),
      ends,
    );
    after = looked.to;
    if (after >= last) return ends;
  }
}
