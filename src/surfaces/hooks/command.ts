import { basename } from 'node:path';
import type { Word } from './command-line.ts';
import type { Arguments } from './operands.ts';

/** Words before a command that leave it the same command, with their options that take a word of their own. */
const BEFORE = new Map<string, readonly string[]>([
  ...['!', '{', 'if', 'elif', 'then', 'else', 'while', 'until', 'do', 'command', 'builtin', 'nohup', 'time'].map((word) => [word, []] as const),
  ['exec', ['-a']],
  ['env', ['-u', '-C', '--chdir', '-S']],
  ['sudo', ['-u', '-g', '-h', '-p', '-C', '-T', '-U']],
  ['nice', ['-n']],
  ['timeout', ['-s', '-k']],
  ['stdbuf', ['-i', '-o', '-e']],
  ['xargs', ['-I', '-n', '-P', '-L', '-d', '-a', '-s', '-E']],
]);

export interface Command {
  readonly program: string | undefined;
  readonly args: Arguments;
  /** Where it is sent before it runs: unknown where only a shell knows. */
  readonly into: { readonly folder: string | undefined } | undefined;
}

export function commandIn(words: readonly Word[]): Command {
  const texts = words.map(({ text }) => text);
  let into: Command['into'];
  let at = 0;
  while (at < words.length) {
    const word = texts[at];
    const withValue = word === undefined ? undefined : BEFORE.get(word);
    if (withValue === undefined && !words[at]?.assigns) break;
    at++;
    for (; withValue && texts[at]?.startsWith('-'); at++) {
      const option = texts[at] as string;
      if (word === 'env' && option.startsWith('--chdir=')) into = { folder: option.slice('--chdir='.length) };
      if (!withValue.includes(option)) continue;
      at++;
      if (word === 'env' && (option === '-C' || option === '--chdir')) into = { folder: texts[at] };
    }
    // How long.
    if (word === 'timeout') at++;
  }
  const program = texts[at];
  return { program: program === undefined ? undefined : basename(program), args: texts.slice(at + 1), into };
}
