import { realpathSync } from 'node:fs';
import { placeOf } from '../../../machine/git/place.ts';
import { CliError, type CommandResult, UsageError } from '../../cli/command.ts';
import { BASE_URL, type CompanionCommand, originOf } from '../command.ts';
import { checkGuard } from '../guard/check.ts';
import { GUARDED, type GuardOutcome, hooksFolder, installGuard, isInTree, ownHooksFolder, removeGuard } from '../guard/install.ts';

const CHANGES: Readonly<Record<GuardOutcome['change'], string>> = {
  installed: 'asks the server before it goes on',
  unchanged: 'is in place already',
  removed: 'taken out',
  restored: 'taken out; your own hook is back in its place',
  absent: 'there is none of ours',
  left: 'was changed since it was installed, and is left as it is: delete it by hand if it is not wanted',
};

export const guardCommands: readonly CompanionCommand[] = [
  {
    name: 'guard install',
    summary: 'Check what is committed and pushed in this repository against the claims of others. Your own hooks are kept, and run first.',
    options: { ...BASE_URL },
    local: true,
    async run(invocation) {
      const origin = originOf(invocation);
      const root = rootOf(invocation.cwd);
      const folder = await hooksFolder(root);
      const outcomes = installGuard(folder, { origin, program: [process.execPath, ownFile()] });
      return report(outcomes, invocation.out.mark, await notesOn(root, folder));
    },
  },
  {
    name: 'guard remove',
    summary: 'Take the guard out of this repository, and put your own hooks back.',
    local: true,
    async run(invocation) {
      return report(removeGuard(await hooksFolder(rootOf(invocation.cwd))), invocation.out.mark, []);
    },
  },
  {
    name: 'guard check',
    summary: 'What the guard runs: pre-commit looks at what is staged, pre-push at what git says on stdin.',
    positionals: ['HOOK', '[REMOTE]'],
    options: { ...BASE_URL },
    local: true,
    async run(invocation) {
      const { env, cwd, out } = invocation;
      const [named, remote] = invocation.positionals;
      const hook = GUARDED.find((known) => known === named);
      if (!hook) throw new UsageError(`guard check takes one of ${GUARDED.join(', ')}`);
      const { allowed, said } = await checkGuard(hook, { env, cwd, origin: originOf(invocation), remote, lines: stdinText });
      if (!allowed) return { json: { kind: 'guard', decision: 'deny', reason: said }, text: `${out.mark.bad} ${said}`, exit: 3 };
      if (said !== undefined) out.note(`${out.mark.wait} ${said}`);
      return undefined;
    },
  },
];

function report(outcomes: readonly GuardOutcome[], mark: Record<'good' | 'wait' | 'quiet', string>, notes: readonly string[]): CommandResult {
  const marks: Partial<Record<GuardOutcome['change'], string>> = { left: mark.wait, absent: mark.quiet };
  const lines = outcomes.map(({ hook, change, kept }) => {
    const first = kept && (change === 'installed' || change === 'unchanged') ? '; your own hook runs first' : '';
    return `${marks[change] ?? mark.good} ${hook.padEnd(10)}  ${CHANGES[change]}${first}`;
  });
  return { json: { kind: 'guard', hooks: outcomes }, text: [...lines, ...notes.map((note) => `${mark.wait} ${note}`)].join('\n') };
}

async function notesOn(root: string, folder: string): Promise<string[]> {
  if (isInTree(root, folder))
    return [`${folder} is in the working tree: do not commit these files, and run this again where they are written anew (husky does, at npm install)`];
  if (folder === (await ownHooksFolder(root))) return [];
  return [`core.hooksPath names ${folder}: every repository that has its hooks there is guarded now; \`covibe-local guard remove\` takes it out for all`];
}

function rootOf(folder: string): string {
  const place = placeOf(folder);
  if (place) return place.root;
  throw new CliError('NO_REPOSITORY', `${folder} is in no git repository. Nothing was changed.`, 'Run it in the repository that is to be guarded.');
}

/** As it stays: what the PATH has is often a link that is gone after an update. */
const ownFile = (): string => realpathSync(process.argv[1] ?? '');

async function stdinText(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
