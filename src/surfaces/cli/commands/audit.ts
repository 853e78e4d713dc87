import { loadConfig } from '../../../config.ts';
import { clockFrom } from '../../../kernel/clock.ts';
import { workspaceFlag, workspaceId } from '../../../kernel/ids.ts';
import { EVENT_CATEGORIES, type JournalEvent } from '../../../storage/journal.ts';
import { type AnswerTo, call, calling } from '../call.ts';
import { refuseWhileServed } from '../client.ts';
import { type CliCommand, CliError, type CommandOptions, type CommandResult, given, type Invocation, option, UsageError } from '../command.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { counted, type TableShape, table } from '../output.ts';
import { everyPage, verifyCommand } from './audit-verify.ts';

/** The options that filter events. The dashboard has the same filters. */
const FILTER_OPTIONS = {
  category: { value: 'NAME', choices: EVENT_CATEGORIES, description: 'Only events of this category.' },
  kind: { value: 'KIND', description: 'Only events of this kind, such as capability_granted.' },
  actor: { value: 'ACTOR', description: 'Only events by this actor, such as operator.' },
  subject: { value: 'SUBJECT', description: 'Only events about this subject, such as tool:echo.' },
  outcome: { value: 'OUTCOME', description: 'Only calls with this outcome, such as ok or denied.' },
  session: { value: 'ID', description: 'Only events of this session.' },
  text: { value: 'TEXT', description: 'Only events that contain this text.' },
} as const satisfies CommandOptions;
const FILTER = Object.keys(FILTER_OPTIONS);
const MAX_DAYS = 36_500;
/** The number of events that `audit recent` shows by default. */
const RECENT = 20;

const EVENTS: TableShape = {
  head: ['SEQ', 'TIME', 'CATEGORY', 'KIND', 'ACTOR', 'SUBJECT', 'OUTCOME'],
  narrow: [
    ['CATEGORY', 0],
    ['SUBJECT', 12],
    ['ACTOR', 12],
    ['TIME', 20],
    ['OUTCOME', 0],
    ['KIND', 16],
    ['SUBJECT', 0],
  ],
};

export const auditCommands: readonly CliCommand[] = [
  {
    name: 'audit recent',
    summary: 'List the latest events.',
    options: { limit: { value: 'N', description: 'The number of events, from 1 to 1000.', default: RECENT }, ...FILTER_OPTIONS },
    examples: ['audit recent', 'audit recent --limit 100 --outcome denied'],
    async run(invocation) {
      const latest = Number(option(invocation, 'limit') ?? RECENT);
      if (!Number.isInteger(latest) || latest < 1 || latest > 1_000)
        throw new UsageError('`--limit` must be a whole number from 1 to 1000, for example --limit 50');
      const items = await latestFitting(invocation, latest);
      const rows = items.map((e) => [
        String(e.seq),
        new Date(e.time).toISOString().replace(/\.\d+Z$/, 'Z'),
        e.category,
        e.kind,
        e.actor,
        e.subject ?? '—',
        String(e.payload.outcome ?? ''),
      ]);
      return { json: { kind: 'event_list', items }, text: table(EVENTS, rows, invocation.out.columns) };
    },
  },
  verifyCommand,
  {
    name: 'audit export',
    summary: 'Print events as JSON, one object per line.',
    options: { anchor: { description: 'Write an anchor instead of printing events, as `covenant audit anchor` does.' }, ...FILTER_OPTIONS },
    examples: ['audit export > journal.jsonl', 'audit export --category audit'],
    async run(invocation) {
      const filter = given(invocation, ...FILTER);
      if (invocation.values.anchor) {
        if (Object.keys(filter).length > 0) throw new UsageError('`--anchor` takes no filter, because an anchor covers all events');
        return await writeAnchor(invocation);
      }
      const print = (events: readonly JournalEvent[]) => {
        for (const event of events) invocation.out.result(JSON.stringify(event));
      };
      await everyPage(invocation, print, filter);
      return undefined;
    },
  },
  {
    name: 'audit anchor',
    summary: 'Write a signed anchor of the journal, and print it.',
    description: 'Store the printed anchor on another machine. You can use it later to check that nobody changed the events before it.',
    options: { 'after-restore': { description: 'Use this option if you restored the database with pg_restore or by hand. Stop the server first.' } },
    examples: ['audit anchor --json >> /mnt/safe/anchors.jsonl'],
    run: (invocation) => (invocation.values['after-restore'] === true ? anchorAfterRestore(invocation) : writeAnchor(invocation)),
  },
  calling({
    name: 'audit rotate-key',
    summary: 'Replace the key that signs anchors.',
    description: 'The old key signs the new key, so that anchors signed with the old key stay valid.',
    examples: ['audit rotate-key'],
    action: 'journal.rotate_key',
    kind: 'anchor_key_rotated',
    text: ({ key, previous }) => `Key ${key} signs the anchors from now on. The key ${previous} was deleted.`,
  }),
  {
    name: 'audit prune',
    summary: 'Delete old events. The chain continues from a verified anchor.',
    description: 'Give `--before` or `--keep`. At a terminal, the command asks before it deletes events.',
    options: {
      before: { value: 'DATE', description: 'Delete the events before this date, such as 2026-01-31 (UTC) or 2026-01-31T12:00:00Z.' },
      keep: { value: 'DAYS', description: `Keep the events of the last DAYS days, from 1 to ${MAX_DAYS}.` },
      'dry-run': { description: 'Only count the events that would be deleted.' },
      yes: { description: 'Delete without asking.' },
    },
    examples: ['audit prune --keep 90 --dry-run', 'audit prune --before 2026-01-31 --yes'],
    run: prune,
  },
];

/** Reads ever older events until enough of them match the filters, or until the journal begins. */
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

/** The server writes the anchor, so that only one process writes the file. */
async function writeAnchor(invocation: Invocation): Promise<CommandResult> {
  const anchored = await call(invocation, 'journal.anchor');
  return { json: { kind: 'audit_anchor', ...anchored }, text: `${anchored.seq} ${anchored.root}` };
}

/**
 * Sets aside the anchors that do not match the restored journal. Only a person who can write the files of the home may do this, so the server offers no
 * action for it. The database determines who may call an action as the operator, so anyone who can write the database could call such an action.
 */
async function anchorAfterRestore(invocation: Invocation): Promise<CommandResult> {
  const [{ openStore }, { AnchorKeeper }] = await Promise.all([import('../../../storage/open.ts'), import('../../../storage/anchors/keeper.ts')]);
  const config = loadConfig(invocation.env);
  await refuseWhileServed(invocation.env, config.home, 'anchor');
  const name = option(invocation, 'workspace') ?? 'default';
  const workspace = workspaceId(name);
  const keeper = new AnchorKeeper(config.home, config.anchors.key_file);
  if (!keeper.has(workspace))
    throw new CliError(
      'NO_ANCHORS',
      `This home has no anchors of the workspace ${name}, so there is nothing to set aside.`,
      `covenant audit anchor${workspaceFlag(workspace)}`,
    );
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
  // Also counts the events that an interrupted prune has cut off from the chain but not deleted yet.
  const events = wanted.pruned + wanted.remaining;
  const meant = `${counted(events, 'event')} before ${new Date(before).toISOString()}, up to event ${verified_to}`;
  const dry_run = invocation.values['dry-run'] === true;
  const json = { kind: 'journal_pruned', dry_run, before };
  if (events === 0) return { json: { ...json, events, anchor: wanted.anchor }, text: `No event is older than ${new Date(before).toISOString()}.` };
  if (dry_run) return { json: { ...json, events, anchor: wanted.anchor }, text: `Would delete ${meant}. The chain is intact up to there.` };
  if (canConfirm(invocation) && !(await confirm(`Delete ${meant}? This cannot be undone.`)))
    return { json: { ...json, events: 0, anchor: wanted.anchor }, text: 'Nothing was deleted.', exit: 1 };
  const { anchor } = await untilDone(invocation, { before });
  const text = `${counted(events, 'event')} deleted. The journal now begins at event ${anchor.seq + 1}, anchored at event ${anchor.seq} (root ${anchor.hash}).`;
  return { json: { ...json, events, anchor }, text: `${invocation.out.mark.good} ${text}` };
}

/** Repeats the call until all events are deleted, because each call deletes only a limited number of them. */
async function untilDone(invocation: Invocation, input: Record<string, unknown>): Promise<AnswerTo<'journal.prune'>> {
  for (let next = input; ; ) {
    const answer = await call(invocation, 'journal.prune', next);
    if (answer.stage === 'done') return answer;
    if (!invocation.json)
      invocation.out.note(answer.stage === 'verifying' ? `Verified up to event ${answer.verified_to}` : `${answer.remaining} events left to remove`);
    const { keep_days: _, ...same } = next;
    next = { ...same, before: answer.before };
  }
}

const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

function which(invocation: Invocation): { before: number } | { keep_days: number } {
  const [before, keep] = [option(invocation, 'before'), option(invocation, 'keep')];
  if ((before === undefined) === (keep === undefined)) throw new UsageError('Give either `--before DATE` or `--keep DAYS`, for example --keep 90');
  if (keep !== undefined) {
    if (!/^[1-9]\d{0,4}$/.test(keep) || Number(keep) > MAX_DAYS)
      throw new UsageError(`\`--keep\` must be a whole number of days from 1 to ${MAX_DAYS}, for example --keep 90`);
    return { keep_days: Number(keep) };
  }
  const time = isDate(String(before)) ? Date.parse(String(before)) : Number.NaN;
  if (!(time > 0)) throw new UsageError('`--before` must be a date such as 2026-01-31 (UTC) or 2026-01-31T12:00:00Z');
  return { before: time };
}

/** Refuses dates such as 30 February, which JavaScript reads as 2 March. A wrong date would be dangerous, because deleted events cannot be restored. */
function isDate(text: string): boolean {
  const day = text.slice(0, 'YYYY-MM-DD'.length);
  return DATE.test(text) && Number.isFinite(Date.parse(day)) && new Date(day).toISOString().startsWith(day);
}
