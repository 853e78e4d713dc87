import { basename, isAbsolute, join } from 'node:path';
import { MAX_EDITS, type WrittenPath } from '../wire/hook-question.ts';
import { LONGEST_PATH } from '../wire/limits.ts';
import { parseCommandLine, type ShellWord, type SimpleCommand } from './command-line.ts';
import { type ShellArguments, writtenBy } from './writers.ts';

/**
 * The longest command line that is read, in characters. The server parses command lines, too, and cannot answer other callers at
 * the same time. Linux limits an argument to half of this length.
 */
export const LONGEST_LINE = 256 * 1024;
/** The maximum length of all paths together, in characters. It is limited, because every parent folder of a file is looked up on disk. */
export const MAX_PATH_CHARACTERS = 100_000;

export interface WrittenFiles {
  readonly files: readonly WrittenPath[];
  /** True if the command line may write more files than were found. */
  readonly unread: boolean;
}

/** The folder in which the next command runs. Undefined after a `cd` to an unknown folder. */
export type WorkingFolder = string | undefined;

/** Collects written files up to a limit. Once the limit is reached, the rest of the command line is not read. */
export class FileCollector {
  readonly files = new Map<string, WrittenPath>();
  unread = false;
  full = false;
  #characters = 0;

  note(paths: ShellArguments, from: WorkingFolder, how: Omit<WrittenPath, 'path'> = {}): void {
    for (const each of paths) {
      const path = each === '' || each === '-' ? undefined : this.pathOf(each, from);
      if (path !== undefined) this.#keep({ path, ...how });
      if (this.full) return;
    }
  }

  /** Adds paths that are relative to the top of the working tree that contains the folder `from`. */
  noteFromTop(paths: ShellArguments, from: WorkingFolder): void {
    for (const fromTop of paths) {
      const path = fromTop === undefined ? undefined : this.pathOf('.', from);
      if (path !== undefined && this.pathOf(fromTop, '') !== undefined) this.#keep({ path, tree: true, fromTop: fromTop as string });
      if (this.full) return;
    }
  }

  #keep(file: WrittenPath): void {
    const key = JSON.stringify(file);
    if (this.files.has(key)) return;
    if (this.files.size === MAX_EDITS) this.#stop();
    else this.files.set(key, file);
  }

  /** Resolves a path. The length of each path counts towards the limit, even if the path is repeated. */
  pathOf(name: string | undefined, from: WorkingFolder): string | undefined {
    if (this.full || name === undefined || name.length > LONGEST_PATH || (from === undefined && !isAbsolute(name))) return undefined;
    const path = isAbsolute(name) || !from ? name : join(from, name);
    this.#characters += path.length;
    if (this.#characters > MAX_PATH_CHARACTERS) this.#stop();
    return this.full || path.length > LONGEST_PATH ? undefined : path;
  }

  #stop(): void {
    this.unread = true;
    this.full = true;
  }
}

/** Words that may stand before a command and run it unchanged. The list after each word contains those of its options that take a value. */
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

export interface ShellCommand {
  readonly program: string | undefined;
  readonly args: ShellArguments;
  /** Set if an option changes the folder in which the command runs. `folder` is undefined if only a shell can determine it. */
  readonly into: { readonly folder: string | undefined } | undefined;
}

export function commandIn(words: readonly ShellWord[]): ShellCommand {
  const texts = words.map(({ text }) => text);
  let into: ShellCommand['into'];
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
    // Skips the duration, which is the first argument of `timeout`.
    if (word === 'timeout') at++;
  }
  const program = texts[at];
  return { program: program === undefined ? undefined : basename(program), args: texts.slice(at + 1), into };
}

/** The maximum depth of command lines inside command lines. Each level reads its text once more. */
const DEEPEST = 5;
/**
 * Returns the files that a command line would write, if the line contains their names. Files that depend on variables, globs, `~`
 * or the behaviour of a program are left out. A wrong guess would block work on files that nobody has claimed, and the commit
 * guard checks the files that are missed here. Relative paths are relative to the folder in which the line runs.
 */
export function filesWritten(line: string): WrittenFiles {
  const found = new FileCollector();
  if (line.length > LONGEST_LINE) found.unread = true;
  read(line.slice(0, LONGEST_LINE), '', found, 0);
  return { files: [...found.files.values()], unread: found.unread };
}

function read(line: string, from: WorkingFolder, found: FileCollector, depth: number): void {
  if (depth > DEEPEST) found.unread = true;
  if (depth > DEEPEST || found.full) return;
  const outer: WorkingFolder[] = [];
  let folder = from;
  for (const piece of parseCommandLine(line)) {
    if (found.full) return;
    if (piece === '(') outer.push(folder);
    else if (piece === ')') folder = outer.length > 0 ? outer.pop() : folder;
    else folder = run(piece, folder, found, depth);
  }
}

/** Records what a command writes. Returns the folder in which the next command runs. */
function run({ words, outputs, documents, inside, apart }: SimpleCommand, folder: WorkingFolder, found: FileCollector, depth: number): WorkingFolder {
  const { program, args, into } = commandIn(words);
  for (const line of inside) read(line, folder, found, depth + 1);
  found.note(
    outputs.map(({ text }) => text),
    folder,
  );
  if (program === 'cd' || program === 'pushd') return apart ? folder : found.pathOf(entered(args), folder);
  if (program === 'popd') return apart ? folder : undefined;
  const runsIn = into ? found.pathOf(into.folder, folder) : folder;
  for (const line of linesGivenTo(program, args, documents)) read(line, runsIn, found, depth + 1);
  if (program === undefined) return folder;
  const there = program === 'git' ? gitFolder(runsIn, args, found) : { folder: runsIn, args };
  const { files = [], trees = [], removed = [], fromTop = [] } = writtenBy(program, there.args, documents);
  found.note(files, there.folder);
  found.note(removed, there.folder, { tree: true, removed: true });
  found.note(trees, there.folder, { tree: true });
  found.noteFromTop(fromTop, there.folder);
  return folder;
}

/** Returns the folder to which a `cd` changes, or undefined if it is not known. */
function entered(args: ShellArguments): string | undefined {
  const [target, more] = args.filter((word) => word !== '--' && word !== '-P' && word !== '-L');
  return target === '-' || more !== undefined ? undefined : target;
}

const SHELLS = ['sh', 'bash', 'zsh', 'dash', 'ksh'];

/** Returns the command lines that a command runs, as in `bash -c '…'`, `bash <<EOF` or `eval '…'`. */
function linesGivenTo(program: string | undefined, args: ShellArguments, documents: readonly string[]): readonly string[] {
  if (program === 'eval') return args.every((word) => word !== undefined) ? [args.join(' ')] : [];
  if (program === undefined || !SHELLS.includes(program)) return [];
  const flag = args.findIndex((word) => /^-[a-z]*c$/.test(word ?? ''));
  const line = flag < 0 ? undefined : args[flag + 1];
  return line !== undefined ? [line] : flag < 0 && args.every((word) => word?.startsWith('-')) ? documents : [];
}

/** Returns the folder in which a git command works, and its arguments after the global options, as in `git -C folder -c name=value restore …`. */
function gitFolder(from: WorkingFolder, args: ShellArguments, found: FileCollector): { folder: WorkingFolder; args: ShellArguments } {
  let folder = from;
  let at = 0;
  for (; args[at]?.startsWith('-'); at++) {
    if (args[at] === '-C') folder = found.pathOf(args[++at], folder);
    else if (args[at] === '-c') at++;
  }
  return { folder, args: args.slice(at) };
}
