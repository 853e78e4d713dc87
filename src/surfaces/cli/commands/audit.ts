import type { JournalEvent } from '../../../storage/journal.ts';
import type { Client } from '../client.ts';
import { type CliCommand, given, option, UsageError } from '../command.ts';
import { table } from '../output.ts';
import { anchorCommands, writeAnchor } from './audit-anchor.ts';
import { everyPage, PAGE, type Page } from './audit-pages.ts';
import { pruneCommand } from './audit-prune.ts';
import { verifyCommand } from './audit-verify.ts';

/** Which events are meant, as on the dashboard. */
const FILTER = ['category', 'kind', 'actor', 'subject', 'outcome', 'session', 'text'];
const FILTER_OPTIONS = Object.fromEntries(FILTER.map((name) => [name, { type: 'string' } as const]));

export const auditCommands: readonly CliCommand[] = [
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
  verifyCommand,
  {
    name: 'audit export',
    summary: 'Every event or every one that fits, one JSON object a line; with --anchor the same as audit anchor.',
    options: { anchor: { type: 'boolean' }, ...FILTER_OPTIONS },
    async run(invocation) {
      const client = await invocation.client();
      if (invocation.values.anchor) return await writeAnchor(invocation);
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
  ...anchorCommands,
  pruneCommand,
];

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
