import { ChainVerifier, type JournalEvent } from '../../../storage/journal.ts';
import type { Client } from '../client.ts';
import { type Command, given, option, UsageError } from '../command.ts';
import { table } from '../output.ts';

const PAGE = 1_000;

interface Head {
  seq: number;
  hash: string;
}

interface Page {
  items: JournalEvent[];
  head: Head;
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
      const verifier = new ChainVerifier();
      const head = await everyPage(await invocation.client(), (events, last) => {
        for (const event of events) verifier.add(event);
        if (last.seq > 10 * PAGE && !invocation.json) invocation.out.note(`${events.at(-1)?.seq ?? 0}/${last.seq}`);
      });
      const report = verifier.finish(head);
      const { good, bad } = invocation.out.mark;
      const text = report.valid
        ? `${good} ${report.events} events, no gaps, chain intact · root ${report.root}`
        : `${bad} chain breaks at ${report.firstBreak?.seq}: ${report.firstBreak?.reason}; ${report.events} before it intact\n    next: covenant backup, then compare your last anchor`;
      return {
        json: { kind: 'audit_verified', valid: report.valid, events: report.events, root: report.root, first_break: report.firstBreak },
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
        const { head } = (await client.action('events.list', { latest: 1 })) as { head: Head };
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
];

/** Reads up to where the journal ended when we began: reading is itself journaled, and would never end. */
async function everyPage(client: Client, use: (events: JournalEvent[], head: Head) => void, filter: Record<string, string> = {}): Promise<Head | undefined> {
  let end: Head | undefined;
  for (let after = 0; ; ) {
    const { items, head, looked } = (await client.action('events.list', { after, limit: PAGE, ...filter })) as unknown as Page;
    end ??= head;
    const target = end;
    const wanted = items.filter((event) => event.seq <= target.seq);
    use(wanted, target);
    after = looked.to;
    if (after >= target.seq) return target.seq === 0 ? undefined : target;
  }
}

/** A filter that leaves few is looked for further back, as far as the journal goes. */
async function latestFitting(client: Client, latest: number, filter: Record<string, string>): Promise<JournalEvent[]> {
  let { items, looked } = (await client.action('events.list', { latest, ...filter })) as unknown as Page;
  while (items.length < latest && looked.from > 1) {
    const older = (await client.action('events.list', { before: looked.from, limit: latest - items.length, ...filter })) as unknown as Page;
    items = [...older.items, ...items];
    looked = older.looked;
  }
  return items;
}
