import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../../../config.ts';
import { workspaceId } from '../../../kernel/workspace.ts';
import { AnchorCheck, earlier, withForged } from '../../../storage/anchors/check.ts';
import { anchorFolder, type KeptAnchors, readAnchorFile } from '../../../storage/anchors/file.ts';
import { AnchorUnreadable, readGivenAnchors } from '../../../storage/anchors/given.ts';
import { ChainVerifier } from '../../../storage/journal.ts';
import { CliError, type Command, type Invocation, option } from '../command.ts';
import { counted } from '../output.ts';
import { everyPage } from './audit-pages.ts';
import { everyFiveSeconds } from './transfer-progress.ts';

export const verifyCommand: Command = {
  name: 'audit verify',
  summary: 'Check every event against the chain, and the chain against the anchors of this home; with --anchor FILE against those of a file.',
  options: { anchor: { type: 'string' } },
  async run(invocation) {
    const kept = anchorsFor(invocation);
    const anchors = new AnchorCheck(kept.points);
    let verifier: ChainVerifier | undefined;
    const say = everyFiveSeconds(invocation);
    const { head, anchor } = await everyPage(await invocation.client(), (events, ends) => {
      verifier ??= new ChainVerifier(ends.anchor);
      for (const event of events) {
        verifier.add(event);
        anchors.add(event);
      }
      say(() => `${events.at(-1)?.seq ?? 0}/${ends.head.seq}`);
    });
    const chain = (verifier ?? new ChainVerifier(anchor)).finish(head, anchor);
    const compared = withForged(anchors.finish(head, anchor), kept.forged);
    const firstBreak = earlier(chain.firstBreak, compared.firstBreak);
    const { good, bad, wait } = invocation.out.mark;
    const verified = anchor.seq === 0 ? `${chain.events} events` : `events ${anchor.seq + 1}…${head.seq}, anchored at ${anchor.seq} (root ${anchor.hash})`;
    const { checked, failed } = compared;
    const lines = [
      firstBreak
        ? `${bad} chain breaks at ${firstBreak.seq}: ${firstBreak.reason}; ${Math.max(0, firstBreak.seq - 1 - anchor.seq)} before it intact`
        : `${good} ${verified}, no gaps, chain intact · root ${chain.root}`,
      failed > 0 ? `${bad} ${failed} of ${counted(checked, 'anchor')} failed` : `${checked > 0 ? good : wait} ${counted(checked, 'anchor')} checked`,
      ...kept.notices.map((notice) => `${wait} ${notice}`),
      ...(firstBreak ? ['    next: covenant backup, then compare with anchors that you kept elsewhere: covenant audit verify --anchor FILE'] : []),
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
        notices: kept.notices,
      },
      text: lines.join('\n'),
      exit: firstBreak ? 1 : 0,
    };
  },
};

/** Of this home, or of the file that was given: then it alone is asked. */
function anchorsFor(invocation: Invocation): Pick<KeptAnchors, 'points' | 'forged' | 'notices'> {
  const folder = anchorFolder(loadConfig(invocation.env).home);
  const workspace = workspaceId(option(invocation, 'workspace') ?? 'default');
  const given = option(invocation, 'anchor');
  const home = readAnchorFile(folder, workspace);
  if (given === undefined) return home;
  const path = resolve(invocation.cwd, given);
  if (!existsSync(path)) throw new CliError('FILE_NOT_FOUND', `There is no file ${path}.`, 'Give the path of a file with an anchor.');
  try {
    return { ...readGivenAnchors(path, workspace, folder), notices: home.notices };
  } catch (error) {
    if (!(error instanceof AnchorUnreadable)) throw error;
    throw new CliError('NOT_AN_ANCHOR', `${error.message}.`, 'Give a file from the folder anchors of a home, or what covenant audit anchor --json printed.');
  }
}
