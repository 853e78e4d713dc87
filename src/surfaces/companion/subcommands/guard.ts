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
    summary: 'Check commits and pushes here against the claims of others.',
    description: 'Installs git hooks for pre-commit and pre-push. Your own hooks stay and run first.',
    options: { ...BASE_URL },
    examples: ['guard install'],
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
    summary: 'Remove the guard from this repository and restore your own hooks.',
    examples: ['guard remove'],
    local: true,
    async run(invocation) {
      return report(removeGuard(await hooksFolder(rootOf(invocation.cwd))), invocation.out.mark, []);
    },
  },
  {
    name: 'guard check',
    summary: 'Run one check by hand. The installed git hooks run it.',
    description: 'pre-commit checks the staged files. pre-push checks the commits that git lists on standard input. Exit code 3: denied.',
    arguments: [
      { name: 'HOOK', description: 'The git hook.', choices: GUARDED },
      { name: 'REMOTE', description: 'The remote of a push.', optional: true },
    ],
    options: { ...BASE_URL },
    examples: ['guard check pre-commit'],
    local: true,
    async run(invocation) {
      const { env, cwd, out } = invocation;
      const [named, remote] = invocation.positionals;
      const hook = GUARDED.find((known) => known === named);
      if (!hook) throw new UsageError(`\`HOOK\` must be one of ${GUARDED.join(', ')}, for example: covibe-local guard check pre-commit`);
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
