import { realpathSync } from 'node:fs';
import { placeOf } from '../../../machine/git/place.ts';
import { CliError, type CommandResult, UsageError } from '../../cli/command.ts';
import { BASE_URL, type CompanionCommand, originOf } from '../command.ts';
import { checkGuard } from '../guard/check.ts';
import { GUARDED, type GuardOutcome, hooksFolder, installGuard, isInTree, ownHooksFolder, removeGuard } from '../guard/install.ts';

const CHANGES: Readonly<Record<GuardOutcome['change'], string>> = {
  installed: 'installed',
  unchanged: 'already installed',
  removed: 'removed',
  restored: 'removed; your own hook is restored',
  absent: 'not installed',
  left: 'changed since it was installed, so it was not removed: delete it by hand if you do not need it',
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
    summary: 'Run one check by hand. The installed git hooks run the same check.',
    description:
      'pre-commit checks the staged files. pre-push checks the commits that git lists on standard input. Exit code 3 means that the change is denied.',
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
    return [
      `${folder} is in the working tree: do not commit these files. If a tool rewrites them (husky does on npm install), run covibe-local guard install again`,
    ];
  if (folder === (await ownHooksFolder(root))) return [];
  return [
    `core.hooksPath is ${folder}: the guard now runs in every repository that uses this folder; \`covibe-local guard remove\` removes it for all of them`,
  ];
}

function rootOf(folder: string): string {
  const place = placeOf(folder);
  if (place) return place.root;
  throw new CliError('NO_REPOSITORY', `${folder} is not in a git repository. Nothing was changed.`, 'Run this command inside the repository to guard.');
}

/** Resolves links: the entry on the PATH is often a symbolic link, and an update deletes it. */
const ownFile = (): string => realpathSync(process.argv[1] ?? '');

async function stdinText(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
