import { type ChainPoint, ChainVerifier, type JournalEvent } from '../../../storage/journal.ts';
import type { Client } from '../client.ts';
import { CliError, type Command, given, option, UsageError } from '../command.ts';
import { table } from '../output.ts';
import { pruneCommand } from './audit-prune.ts';
import { everyFiveSeconds } from './transfer-progress.ts';

const PAGE = 1_000;

interface Page {
  items: JournalEvent[];
  head: ChainPoint;
  /** What the first event there is is chained to. */
  anchor: ChainPoint;
  looked: { from: number; to: number };
}

/** Which events are meant, as on the dashboard. */
const FILTER = ['category', 'kind', 'actor', 'subject', 'outcome', 'session', 'text'];
const FILTER_OPTIONS = Object.fromEntries(FILTER.map((name) => [name, { type: 'string' } as const]));

export const auditCommands: readonly Command[] = [
  {
    name: 'audit recent',
    summary: 'The latest events, or the latest of those that fit.',
    options: { limit: { type: 'string' }, ...FILTER_OPTIONS },
    async run(invocation) {
      const latest = Number(option(invocation, 'limit') ?? 20);
      if (!Number.isInteger(latest) || latest < 1 || latest > PAGE) throw new UsageError(`--limit must be a whole number from 1 to ${PAGE}`);
      const items = await latestFitting(await invocation.client(), latest, given(invocation, ...FILTER));
      const rows = items.map((e) => [
        String(e.seq),
        new Date(e.time).toISOString(),
        e.category,
        e.kind,
        e.actor,
        e.subject ?? '—',
        String(e.payload.outcome ?? ''),
      ]);
      return { json: { kind: 'event_list', items }, text: table(['SEQ', 'TIME', 'CATEGORY', 'KIND', 'ACTOR', 'SUBJECT', 'OUTCOME'], rows) };
    },
  },
  {
    name: 'audit verify',
    summary: 'Check every event against the chain.',
    async run(invocation) {
      let verifier: ChainVerifier | undefined;
      const say = everyFiveSeconds(invocation);
      const { head, anchor } = await everyPage(await invocation.client(), (events, ends) => {
        verifier ??= new ChainVerifier(ends.anchor);
        for (const event of events) verifier.add(event);
        say(() => `${events.at(-1)?.seq ?? 0}/${ends.head.seq}`);
      });
      const report = (verifier ?? new ChainVerifier(anchor)).finish(head, anchor);
      const { good, bad } = invocation.out.mark;
      const verified = anchor.seq === 0 ? `${report.events} events` : `events ${anchor.seq + 1}…${head.seq}, anchored at ${anchor.seq} (root ${anchor.hash})`;
      const text = report.valid
        ? `${good} ${verified}, no gaps, chain intact · root ${report.root}`
        : `${bad} chain breaks at ${report.firstBreak?.seq}: ${report.firstBreak?.reason}; ${report.events} before it intact\n    next: covenant backup, then compare your last anchor`;
      return {
        json: { kind: 'audit_verified', valid: report.valid, events: report.events, anchor, root: report.root, first_break: report.firstBreak },
        text,
        exit: report.valid ? 0 : 1,
      };
    },
  },
  {
    name: 'audit export',
    summary: 'Every event or every one that fits, one JSON object a line; with --anchor only the root of the chain.',
    options: { anchor: { type: 'boolean' }, ...FILTER_OPTIONS },
    async run(invocation) {
      const client = await invocation.client();
      if (invocation.values.anchor) {
        const { head } = (await client.action('events.list', { latest: 1 })) as { head: ChainPoint };
        return { json: { kind: 'audit_anchor', seq: head.seq, root: head.hash, time: Date.now() }, text: `${head.seq} ${head.hash}` };
      }
      await everyPage(
        client,
        (events) => {
          for (const event of events) invocation.out.result(JSON.stringify(event));
        },
        given(invocation, ...FILTER),
      );
      return undefined;
    },
  },
  pruneCommand,
];

type Ends = Pick<Page, 'head' | 'anchor'>;

/** Reads up to where the journal ended when we began: reading is itself journaled, and would never end. */
async function everyPage(client: Client, use: (events: JournalEvent[], ends: Ends) => void, filter: Record<string, string> = {}): Promise<Ends> {
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

/** A filter that leaves few is looked for further back, as far as the journal goes. */
async function latestFitting(client: Client, latest: number, filter: Record<string, string>): Promise<JournalEvent[]> {
  let { items, looked, anchor } = (await client.action('events.list', { latest, ...filter })) as unknown as Page;
  while (items.length < latest && looked.from > anchor.seq + 1) {
    const older = (await client.action('events.list', { before: looked.from, limit: latest - items.length, ...filter })) as unknown as Page;
    items = [...older.items, ...items];
    ({ looked, anchor } = older);
  }
  return items;
}
