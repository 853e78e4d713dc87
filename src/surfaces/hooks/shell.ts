import { commandIn } from './command.ts';
import { piecesOf, type Simple } from './command-line.ts';
import { type Folder, Found, LONGEST_LINE, type WrittenFiles } from './found.ts';
import type { Arguments } from './operands.ts';
import { writtenBy } from './writers.ts';

/** Command lines in command lines are read so deep; each level reads its text once more. */
const DEEPEST = 5;
/**
 * The files that a command line would write, as far as it names them itself. What only a shell can know (variables, globs, `~`, what
 * a program does of its own) is left out rather than guessed: a guess would deny work on files that nobody has claimed, and the
 * commit guard sees what was missed here. Relative paths are from where the line is run.
 */
export function filesWritten(line: string): WrittenFiles {
  const found = new Found();
  if (line.length > LONGEST_LINE) found.unread = true;
  read(line.slice(0, LONGEST_LINE), '', found, 0);
  return { files: [...found.files.values()], unread: found.unread };
}

function read(line: string, from: Folder, found: Found, depth: number): void {
  if (depth > DEEPEST) found.unread = true;
  if (depth > DEEPEST || found.full) return;
  const outer: Folder[] = [];
  let folder = from;
  for (const piece of piecesOf(line)) {
    if (found.full) return;
    if (piece === '(') outer.push(folder);
    else if (piece === ')') folder = outer.length > 0 ? outer.pop() : folder;
    else folder = run(piece, folder, found, depth);
  }
}

/** Notes what a command writes; where the next one runs. */
function run({ words, outputs, documents, inside, apart }: Simple, folder: Folder, found: Found, depth: number): Folder {
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

/** What a `cd` names. */
function entered(args: Arguments): string | undefined {
  const [target, more] = args.filter((word) => word !== '--' && word !== '-P' && word !== '-L');
  return target === '-' || more !== undefined ? undefined : target;
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
function gitFolder(from: Folder, args: Arguments, found: Found): { folder: Folder; args: Arguments } {
  let folder = from;
  let at = 0;
  for (; args[at]?.startsWith('-'); at++) {
    if (args[at] === '-C') folder = found.pathOf(args[++at], folder);
    else if (args[at] === '-c') at++;
  }
  return { folder, args: args.slice(at) };
}
