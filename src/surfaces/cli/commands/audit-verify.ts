import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../../../config.ts';
import { workspaceId } from '../../../kernel/ids.ts';
import { AnchorCheck, type AnchorReport, earlierBreak, withForged } from '../../../storage/anchors/check.ts';
import { anchorFolder, type KeptAnchors, readAnchorFile } from '../../../storage/anchors/file.ts';
import { AnchorUnreadable, readGivenAnchors } from '../../../storage/anchors/given.ts';
import { ChainVerifier } from '../../../storage/chain-verifier.ts';
import type { JournalEvent } from '../../../storage/journal.ts';
import { type AnswerTo, call } from '../call.ts';
import { type CliCommand, CliError, type Invocation, option } from '../command.ts';
import { counted } from '../output.ts';
import { everyFiveSeconds } from '../progress.ts';

type Ends = Pick<AnswerTo<'events.list'>, 'head' | 'anchor'>;

/** Reads the events that existed when the command started. Each read adds an event to the journal, so reading to the current end would never finish. */
export async function everyPage(invocation: Invocation, use: (events: JournalEvent[], ends: Ends) => void, filter: object = {}): Promise<Ends> {
  let ends: Ends | undefined;
  const say = everyFiveSeconds(invocation);
  for (let after = 0; ; ) {
    const { items, head, anchor, looked } = await call(invocation, 'events.list', { after, limit: 1_000, ...filter });
    // If the journal is pruned while the command reads it, the command must not report a break in the chain.
    if (ends && anchor.seq > after) throw new CliError('JOURNAL_PRUNED', 'The journal was pruned during the read.', 'Run the command again.');
    ends ??= { head, anchor };
    const last = ends.head.seq;
    use(
      items.filter((event) => event.seq <= last),
      ends,
    );
    after = looked.to;
    say(() => `Read ${after} of ${last} events`);
    if (after >= last) return ends;
  }
}

export const verifyCommand: CliCommand = {
  name: 'audit verify',
  summary: "Verify the journal's hash chain, and compare it with the anchors.",
  description: 'Reads every event. The exit code is 1 if the chain is broken or an anchor does not match.',
  options: { anchor: { value: 'FILE', description: 'Also compare the journal with the anchors in this file.', default: 'the anchors of this home only' } },
  examples: ['audit verify', 'audit verify --anchor /mnt/safe/anchors.jsonl'],
  async run(invocation) {
    const { home, given } = anchorsFor(invocation);
    const kept = given ?? home;
    const anchors = new AnchorCheck(kept.points);
    const homeAnchors = new AnchorCheck(given ? home.points : []);
    let verifier: ChainVerifier | undefined;
    const { head, anchor } = await everyPage(invocation, (events, ends) => {
      verifier ??= new ChainVerifier(ends.anchor);
      for (const event of events) {
        verifier.add(event);
        anchors.add(event);
        homeAnchors.add(event);
      }
    });
    const chain = (verifier ?? new ChainVerifier(anchor)).finish(head, anchor);
    const cuts = [...home.cuts, ...(given?.cuts ?? [])];
    const notices = [...home.notices, ...(given?.notices ?? [])];
    let compared = withForged(anchors.finish(head, anchor, cuts), kept.forged);
    const uncheckable = given?.points.filter(({ seq }) => seq < anchor.seq).length ?? 0;
    if (uncheckable > 0) {
      notices.push(
        `${counted(uncheckable, 'anchor')} in the file cannot be checked, because the events were pruned. The anchors of this home were checked instead`,
      );
      compared = mergeReports(compared, withForged(homeAnchors.finish(head, anchor, cuts), home.forged));
    }
    const firstBreak = earlierBreak(chain.firstBreak, compared.firstBreak);
    const { good, bad, wait } = invocation.out.mark;
    const verified = anchor.seq === 0 ? `${chain.events} events` : `events ${anchor.seq + 1}…${head.seq}, anchored at ${anchor.seq} (root ${anchor.hash})`;
    const { checked, failed } = compared;
    const lines = [
      firstBreak
        ? `${bad} chain breaks at ${firstBreak.seq}: ${firstBreak.reason}. The ${Math.max(0, firstBreak.seq - 1 - anchor.seq)} events before it are intact`
        : `${notices.length > 0 ? wait : good} ${verified}, no gaps, chain intact · root ${chain.root}`,
      failed > 0 ? `${bad} ${failed} of ${counted(checked, 'anchor')} failed` : `${checked > 0 ? good : wait} ${counted(checked, 'anchor')} checked`,
      ...notices.map((notice) => `${wait} ${notice}`),
      ...(firstBreak ? ['    next: covenant backup, then compare with an anchor that you stored elsewhere: covenant audit verify --anchor FILE'] : []),
    ];
    return {
      json: {
        kind: 'audit_verified',
        valid: firstBreak === null,
        events: firstBreak ? Math.min(chain.events, Math.max(0, firstBreak.seq - 1 - anchor.seq)) : chain.events,
        anchor,
        root: chain.root,
        first_break: firstBreak,
        anchors: { checked, failed },
        notices,
      },
      text: lines.join('\n'),
      exit: firstBreak ? 1 : 0,
    };
  },
};

const mergeReports = (one: AnchorReport, other: AnchorReport): AnchorReport => ({
  checked: one.checked + other.checked,
  failed: one.failed + other.failed,
  firstBreak: earlierBreak(one.firstBreak, other.firstBreak),
});

/** Reads the anchors in the home folder. If the option `--anchor` names a file, also reads the anchors in that file. */
function anchorsFor(invocation: Invocation): { home: KeptAnchors; given?: ReturnType<typeof readGivenAnchors> } {
  const folder = anchorFolder(loadConfig(invocation.env).home);
  const workspace = workspaceId(option(invocation, 'workspace') ?? 'default');
  const given = option(invocation, 'anchor');
  const home = readAnchorFile(folder, workspace);
  if (given === undefined) return { home };
  const path = resolve(invocation.cwd, given);
  if (!existsSync(path)) throw new CliError('FILE_NOT_FOUND', `The file ${path} does not exist.`, 'Give the path of a file with an anchor.');
  try {
    return { home, given: readGivenAnchors(path, workspace, folder) };
  } catch (error) {
    if (!(error instanceof AnchorUnreadable)) throw error;
    throw new CliError(
      'NOT_AN_ANCHOR',
      `${error.message}.`,
      'Give a file from the folder `anchors` of a home, or the output of `covenant audit anchor --json`.',
    );
  }
}
