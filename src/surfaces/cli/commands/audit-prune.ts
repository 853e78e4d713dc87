import type { pruneJournal } from '../../../features/core/events/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type CliCommand, type Invocation, option, UsageError } from '../command.ts';
import { confirm } from '../confirm.ts';

const ask = asking<{ 'journal.prune': Pruned }>();
type Pruned = Output<typeof pruneJournal>;

export const pruneCommand: CliCommand = {
  name: 'audit prune',
  summary: 'Delete the events before a date, or all but those of the last days; the chain keeps a verified anchor.',
  options: { before: { type: 'string' }, keep: { type: 'string' }, 'dry-run': { type: 'boolean' }, yes: { type: 'boolean' } },
  async run(invocation) {
    const wanted = await untilDone(invocation, { ...which(invocation), dry_run: true });
    const { before, verified_to } = wanted;
    // Where a prune was broken off, events that it has cut are still there.
    const events = wanted.pruned + wanted.remaining;
    const counted = `${events} ${events === 1 ? 'event' : 'events'} before ${new Date(before).toISOString()}, up to ${verified_to}`;
    const dry_run = invocation.values['dry-run'] === true;
    const json = { kind: 'journal_pruned', dry_run, before };
    if (events === 0) return { json: { ...json, events, anchor: wanted.anchor }, text: `There is no event before ${new Date(before).toISOString()}.` };
    if (dry_run) return { json: { ...json, events, anchor: wanted.anchor }, text: `${counted}, would be deleted; the chain holds so far.` };
    if (invocation.values.yes !== true && !invocation.json && process.stdin.isTTY && process.stderr.isTTY) {
      if (!(await confirm(`Delete ${counted}? There is no way back. [y/N] `, process.stdin, process.stderr))) {
        return { json: { ...json, events: 0, anchor: wanted.anchor }, text: 'Nothing was deleted.', exit: 1 };
      }
    }
    const { anchor } = await untilDone(invocation, { before });
    const text = `${events} deleted; the journal begins at ${anchor.seq + 1}, anchored at ${anchor.seq} (root ${anchor.hash}).`;
    return { json: { ...json, events, anchor }, text: `${invocation.out.mark.good} ${text}` };
  },
};

/** A call does so much; the whole is done by as many as it takes. */
async function untilDone(invocation: Invocation, input: Record<string, unknown>): Promise<Pruned> {
  for (let next = input; ; ) {
    const answer = await ask(invocation, 'journal.prune', next);
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
