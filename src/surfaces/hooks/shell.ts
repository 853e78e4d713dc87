import { basename, isAbsolute, join } from 'node:path';
import { piecesOf, type Simple, type Word } from './command-line.ts';
import { type Arguments, writtenBy } from './writers.ts';

/** Command lines in command lines are read so deep; each level reads its text once more. */
const DEEPEST = 5;
/** No system takes longer ones. */
const LONGEST_PATH = 4_096;

/**
 * The files that a command line would write, as far as it names them itself. What only a shell can know (variables, globs, `~`, what
 * a program does of its own) is left out rather than guessed: a guess would deny work on files that nobody has claimed, and the
 * commit guard sees what was missed here. Relative paths are from where the line is run.
 */
export function filesWritten(line: string): string[] {
  const files = new Set<string>();
  read(line, '', files, 0);
  return [...files];
}

/** Where commands run: undefined once a `cd` went somewhere unknown. */
type Folder = string | undefined;

function read(line: string, from: Folder, files: Set<string>, depth: number): void {
  if (depth > DEEPEST) return;
  const outer: Folder[] = [];
  let folder = from;
  for (const piece of piecesOf(line)) {
    if (piece === '(') outer.push(folder);
    else if (piece === ')') folder = outer.length > 0 ? outer.pop() : folder;
    else folder = run(piece, folder, files, depth);
  }
}

/** Notes what a command writes; where the next one runs. */
function run({ words, outputs, documents, inside }: Simple, folder: Folder, files: Set<string>, depth: number): Folder {
  const { program, args } = commandIn(words);
  const note = (paths: Arguments, at: Folder) => {
    for (const path of paths) {
      if (path === undefined || path === '' || path === '-' || path.length > LONGEST_PATH) continue;
      if (isAbsolute(path)) files.add(path);
      else if (at !== undefined) files.add(at === '' ? path : join(at, path));
    }
  };
  for (const line of inside) read(line, folder, files, depth + 1);
  // In a test, `>` compares.
  if (program !== '[[')
    note(
      outputs.map(({ text }) => text),
      folder,
    );
  if (program === 'cd' || program === 'pushd') return entered(folder, args);
  if (program === 'popd') return undefined;
  for (const line of linesGivenTo(program, args, documents)) read(line, folder, files, depth + 1);
  if (program === 'git') {
    const inRepository = gitFolder(folder, args);
    note(writtenBy(program, inRepository.args, documents), inRepository.folder);
  } else if (program !== undefined) note(writtenBy(program, args, documents), folder);
  return folder;
}

/** Words before a command that leave it the same command, with their options that take a word of their own. */
const BEFORE = new Map<string, readonly string[]>([
  ...['!', '{', 'if', 'elif', 'then', 'else', 'while', 'until', 'do', 'command', 'builtin', 'nohup', 'time'].map((word) => [word, []] as const),
  ['exec', ['-a']],
  ['env', ['-u', '-C', '-S']],
  ['sudo', ['-u', '-g', '-h', '-p', '-C', '-T', '-U']],
  ['nice', ['-n']],
  ['timeout', ['-s', '-k']],
  ['stdbuf', ['-i', '-o', '-e']],
  ['xargs', ['-I', '-n', '-P', '-L', '-d', '-a', '-s', '-E']],
]);

function commandIn(words: readonly Word[]): { program: string | undefined; args: Arguments } {
  const texts = words.map(({ text }) => text);
  let at = 0;
  while (at < words.length) {
    const word = texts[at];
    const withValue = word === undefined ? undefined : BEFORE.get(word);
    if (withValue === undefined && !words[at]?.assigns) break;
    at++;
    while (withValue && texts[at]?.startsWith('-')) at += withValue.includes(texts[at] as string) ? 2 : 1;
    // How long.
    if (word === 'timeout') at++;
  }
  const program = texts[at];
  return { program: program === undefined ? undefined : basename(program), args: texts.slice(at + 1) };
}

function entered(folder: Folder, args: Arguments): Folder {
  const [target, more] = args.filter((word) => word !== '--' && word !== '-P' && word !== '-L');
  if (target === undefined || target === '-' || more !== undefined) return undefined;
  const entered = isAbsolute(target) ? target : folder === undefined ? undefined : join(folder, target);
  return entered !== undefined && entered.length <= LONGEST_PATH ? entered : undefined;
}

const SHELLS = ['sh', 'bash', 'zsh', 'dash', 'ksh'];

/** Command lines that a command is given to run: `bash -c '…'`, `bash <<EOF`, `eval '…'`. */
function linesGivenTo(program: string | undefined, args: Arguments, documents: readonly string[]): readonly string[] {
  if (program === 'eval') return args.every((word) => word !== undefined) ? [args.join(' ')] : [];
  if (program === undefined || !SHELLS.includes(program)) return [];
  const flag = args.findIndex((word) => /^-[a-z]*c$/.test(word ?? ''));
  const line = flag < 0 ? undefined : args[flag + 1];
  return line !== undefined ? [line] : flag < 0 && args.every((word) => word?.startsWith('-')) ? documents : [];
}

/** `git -C folder -c name=value restore …`: where it works, and what it is told. */
function gitFolder(from: Folder, args: Arguments): { folder: Folder; args: Arguments } {
  let folder = from;
  let at = 0;
  for (; args[at]?.startsWith('-'); at++) {
    if (args[at] === '-C') folder = entered(folder, [args[++at]]);
    else if (args[at] === '-c') at++;
  }
  return { folder, args: args.slice(at) };
}
