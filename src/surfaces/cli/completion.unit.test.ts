import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/store/database.ts';
import { GROUPS as COMPANION } from '../companion/subcommands/index.ts';
import type { BareInvocation } from './command.ts';
import { completionCommand } from './completion.ts';
import { commandsOf, GROUPS } from './groups.ts';
import { optionsOf } from './parse.ts';

const PROGRAMS = [
  ['covenant', GROUPS],
  ['covibe-local', COMPANION],
] as const;

const scriptOf = async (program: (typeof PROGRAMS)[number], shell: string) =>
  String((await completionCommand(program[0], program[1]).run({ positionals: [shell] } as unknown as BareInvocation))?.text);

/** Returns the suggestions that a real bash makes for the last word. */
function completed(file: string, program: string, ...words: string[]): string[] {
  const line = [program, ...words].map((word) => `'${word}'`).join(' ');
  const script = `source '${file}'; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _${program.replaceAll('-', '_')}; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' }).trim().split('\n');
}

test('bash completes every group, command and option [use.cli.completion]', async () => {
  for (const program of PROGRAMS) {
    const file = join(temporaryFolder(), 'completion.bash');
    writeFileSync(file, await scriptOf(program, 'bash'));
    const [name, groups] = program;
    const top = completed(file, name, '');
    for (const { group, commands } of await commandsOf(groups)) {
      expect(top.includes(group.name)).toBe(group.section !== undefined);
      if (group.section === undefined) continue;
      const listed = commands.filter(({ hidden }) => !hidden);
      if (listed[0]?.name !== group.name) {
        const words = completed(file, name, group.name, '');
        expect(words.filter((word) => !word.startsWith('--')).sort()).toEqual(listed.map((command) => command.name.split(' ')[1]).sort());
      }
      const command = listed[0];
      const options = completed(file, name, ...String(command?.name).split(' '), '--');
      expect(options.sort()).toEqual(
        Object.keys(optionsOf(command as never))
          .map((option) => `--${option}`)
          .sort(),
      );
    }
  }
});

test('bash completes a word from its first letters, also after options, and completes the values of an option [use.cli.completion]', async () => {
  const file = join(temporaryFolder(), 'completion.bash');
  writeFileSync(file, await scriptOf(PROGRAMS[0], 'bash'));
  const covenant = (...words: string[]) => completed(file, 'covenant', ...words);
  expect(covenant('--workspace', 'shop', 'tokens', 'ro')).toEqual(['rotate']);
  expect(covenant('help', 'tok')).toEqual(['tokens']);
  expect(covenant('workflow', 'list', '--re')).toEqual(['--repo']);
  expect(covenant('usage', '--by', 'd')).toEqual(['day', 'developer']);
  expect(covenant('connect', 'co')).toEqual(['codex']);
  // The value of --repo is a path, which bash completes itself.
  expect(covenant('workflow', 'list', '--repo', '')).toEqual(['']);
});

test('the scripts for zsh and fish contain every group, command and option [use.cli.completion]', async () => {
  for (const program of PROGRAMS) {
    const [zsh, fish] = [await scriptOf(program, 'zsh'), await scriptOf(program, 'fish')];
    expect(zsh).toContain('bashcompinit');
    expect(zsh).toContain(await scriptOf(program, 'bash'));
    for (const { group, commands } of await commandsOf(program[1])) {
      if (group.section === undefined) continue;
      expect(fish).toContain(`-n '__fish_use_subcommand' -f -a '${group.name}'`);
      for (const command of commands.filter(({ hidden }) => !hidden)) {
        const [first, second] = command.name.split(' ');
        const seen = `__fish_seen_subcommand_from ${first}${second === undefined ? '' : `; and __fish_seen_subcommand_from ${second}`}`;
        for (const option of Object.keys(optionsOf(command as never))) expect(fish).toMatch(new RegExp(`-n '${seen}(; and not [^']+)?' -l ${option} `));
      }
    }
  }
});

test('refuses an unknown shell with an example', async () => {
  await expect(scriptOf(PROGRAMS[0], 'tcsh')).rejects.toThrow('for example: covenant completion bash');
});
