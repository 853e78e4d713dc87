import { loadConfig } from '../../../config.ts';
import { clockFrom } from '../../../kernel/clock.ts';
import { workspaceId } from '../../../kernel/ids.ts';
import type { JournalEvent } from '../../../storage/journal.ts';
import { type AnswerTo, call, calling } from '../call.ts';
import { refuseWhileServed } from '../client.ts';
import { type CliCommand, CliError, type CommandResult, given, type Invocation, option, UsageError } from '../command.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { counted, table } from '../output.ts';
import { everyPage, verifyCommand } from './audit-verify.ts';

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
      if (!Number.isInteger(latest) || latest < 1 || latest > 1_000) throw new UsageError('--limit must be a whole number from 1 to 1000');
      const items = await latestFitting(invocation, latest);
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
      if (invocation.values.anchor) return await writeAnchor(invocation);
      const print = (events: readonly JournalEvent[]) => {
        for (const event of events) invocation.out.result(JSON.stringify(event));
      };
      await everyPage(invocation, print, given(invocation, ...FILTER));
      return undefined;
    },
  },
  {
    name: 'audit anchor',
    summary:
      'Write a signed anchor of the journal now, and print it: keep it where nobody who can write this home can reach it. --after-restore, while no server of this home runs: the database was put back by pg_restore or by hand.',
    options: { 'after-restore': { type: 'boolean' } },
    run: (invocation) => (invocation.values['after-restore'] === true ? anchorAfterRestore(invocation) : writeAnchor(invocation)),
  },
  calling({
    name: 'audit rotate-key',
    summary: 'Make a new key for anchors, introduced by the old one. Anchors of the old key still verify.',
    action: 'journal.rotate_key',
    kind: 'anchor_key_rotated',
    text: ({ key, previous }) => `Anchors are signed with the key ${key} from now on; ${previous} is gone.`,
  }),
  {
    name: 'audit prune',
    summary: 'Delete the events before a date, or all but those of the last days; the chain keeps a verified anchor.',
    options: { before: { type: 'string' }, keep: { type: 'string' }, 'dry-run': { type: 'boolean' }, yes: { type: 'boolean' } },
    run: prune,
  },
];

/** A filter that leaves few is looked for further back, as far as the journal goes. */
async function latestFitting(invocation: Invocation, latest: number): Promise<JournalEvent[]> {
  const filter = given(invocation, ...FILTER);
  let { items, looked, anchor } = await call(invocation, 'events.list', { latest, ...filter });
  while (items.length < latest && looked.from > anchor.seq + 1) {
    const older = await call(invocation, 'events.list', { before: looked.from, limit: latest - items.length, ...filter });
    items = [...older.items, ...items];
    ({ looked, anchor } = older);
  }
  return items;
}

/** Written by the server, so that one process has the file. */
async function writeAnchor(invocation: Invocation): Promise<CommandResult> {
  const anchored = await call(invocation, 'journal.anchor');
  return { json: { kind: 'audit_anchor', ...anchored }, text: `${anchored.seq} ${anchored.root}` };
}

/**
 * Sets aside what the journal no longer agrees with. By whoever has the home, never by the server: its callers are in the database, and whoever
 * writes that could be any of them.
 */
async function anchorAfterRestore(invocation: Invocation): Promise<CommandResult> {
  const [{ openStore }, { AnchorKeeper }] = await Promise.all([import('../../../storage/open.ts'), import('../../../storage/anchors/keeper.ts')]);
  const config = loadConfig(invocation.env);
  await refuseWhileServed(invocation.env, config.home, 'anchor');
  const name = option(invocation, 'workspace') ?? 'default';
  const workspace = workspaceId(name);
  const keeper = new AnchorKeeper(config.home, config.anchors.key_file);
  if (!keeper.has(workspace))
    throw new CliError('NO_ANCHORS', `This home has no anchors of the workspace ${name}, so there is nothing to set aside.`, 'covenant audit anchor');
  const { now } = clockFrom(invocation.env);
  const store = await openStore({ url: config.database_url, path: config.database_path, now, statementTimeoutMs: 3_600_000 });
  try {
    const { record, publicKey, path } = await keeper.replaced(store.reader, workspace, 'restored', now());
    const json = { kind: 'audit_anchor', seq: record.seq, root: record.hash, time: record.at, path, public_key: publicKey, anchor: record };
    return { json, text: `${record.seq} ${record.hash}` };
  } finally {
    await store.close();
  }
}

async function prune(invocation: Invocation): Promise<CommandResult> {
  const wanted = await untilDone(invocation, { ...which(invocation), dry_run: true });
  const { before, verified_to } = wanted;
  // Where a prune was broken off, events that it has cut are still there.
  const events = wanted.pruned + wanted.remaining;
  const meant = `${counted(events, 'event')} before ${new Date(before).toISOString()}, up to ${verified_to}`;
  const dry_run = invocation.values['dry-run'] === true;
  const json = { kind: 'journal_pruned', dry_run, before };
  if (events === 0) return { json: { ...json, events, anchor: wanted.anchor }, text: `There is no event before ${new Date(before).toISOString()}.` };
  if (dry_run) return { json: { ...json, events, anchor: wanted.anchor }, text: `${meant}, would be deleted; the chain holds so far.` };
  if (canConfirm(invocation) && !(await confirm(`Delete ${meant}? There is no way back.`)))
    return { json: { ...json, events: 0, anchor: wanted.anchor }, text: 'Nothing was deleted.', exit: 1 };
  const { anchor } = await untilDone(invocation, { before });
  const text = `${events} deleted; the journal begins at ${anchor.seq + 1}, anchored at ${anchor.seq} (root ${anchor.hash}).`;
  return { json: { ...json, events, anchor }, text: `${invocation.out.mark.good} ${text}` };
}

/** A call does so much; the whole is done by as many as it takes. */
async function untilDone(invocation: Invocation, input: Record<string, unknown>): Promise<AnswerTo<'journal.prune'>> {
  for (let next = input; ; ) {
    const answer = await call(invocation, 'journal.prune', next);
    if (answer.stage === 'done') return answer;
    if (!invocation.json) invocation.out.note(answer.stage === 'verifying' ? `verified to ${answer.verified_to}` : `${answer.remaining} to remove`);
    const { keep_days: _, ...same } = next;
    next = { ...same, before: answer.before };
  }
}

const MAX_DAYS = 36_500;
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

function which(invocation: Invocation): { before: number } | { keep_days: number } {
  const [before, keep] = [option(invocation, 'before'), option(invocation, 'keep')];
  if ((before === undefined) === (keep === undefined)) throw new UsageError('give either --before DATE or --keep DAYS');
  if (keep !== undefined) {
    if (!/^[1-9]\d{0,4}$/.test(keep) || Number(keep) > MAX_DAYS) throw new UsageError(`--keep must be a whole number of days, from 1 to ${MAX_DAYS}`);
    return { keep_days: Number(keep) };
  }
  const time = isDate(String(before)) ? Date.parse(String(before)) : Number.NaN;
  if (!(time > 0)) throw new UsageError('--before must be a date such as 2026-01-31 (in UTC) or 2026-01-31T12:00:00Z');
  return { before: time };
}

/** The 30th of February is read as the 2nd of March: of what is deleted for good nothing is guessed. */
function isDate(text: string): boolean {
  const day = text.slice(0, 'YYYY-MM-DD'.length);
  return DATE.test(text) && Number.isFinite(Date.parse(day)) && new Date(day).toISOString().startsWith(day);
}
