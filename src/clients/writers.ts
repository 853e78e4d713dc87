import { basename } from 'node:path';

/** Arguments as far as they are known. A word that only the shell knows is undefined and names no file. */
export type ShellArguments = readonly (string | undefined)[];

/** `withValue`: options that take the next word as their value. All others take none. */
const operandsOf = (args: ShellArguments, withValue: Iterable<string> = []): ShellArguments => {
  const takesNext = new Set(withValue);
  const operands: (string | undefined)[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === '--') return [...operands, ...args.slice(at + 1)];
    if (word !== undefined && word.length > 1 && word.startsWith('-')) {
      if (takesNext.has(word)) at++;
    } else operands.push(word);
  }
  return operands;
};

const valuesOf = (args: ShellArguments, ...names: string[]): ShellArguments =>
  args.flatMap((word, at) => {
    if (word === undefined) return [];
    if (names.includes(word)) return [args[at + 1]];
    const whole = names.find((name) => name.startsWith('--') && word.startsWith(`${name}=`));
    return whole ? [word.slice(whole.length + 1)] : [];
  });

const hasOption = (args: ShellArguments, ...options: string[]): boolean => args.some((word) => word !== undefined && options.includes(word));

/** The files that a patch in Codex's format would write, move or delete. */
export function patchedFiles(patch: string): string[] {
  const files: string[] = [];
  for (const line of patch.split('\n')) {
    // Codex accepts surrounding spaces.
    const head = line.trim();
    const file = HEADS.flatMap((start) => (head.startsWith(start) ? [head.slice(start.length).trim()] : []))[0];
    if (file) files.push(file);
  }
  return files;
}

const HEADS = ['*** Add File: ', '*** Update File: ', '*** Delete File: ', '*** Move to: '];

/** The files that a unified diff would write, with `strip` leading folders removed like `patch -p`. */
function diffedFiles(diff: string, strip: number): string[] {
  return diff.split('\n').flatMap((line) => {
    if (!line.startsWith('+++ ') && !line.startsWith('--- ')) return [];
    const [name = ''] = line.slice(4).split('\t');
    const file = name.trim().split('/').slice(strip).join('/');
    return name.trim() === '/dev/null' || file === '' ? [] : [file];
  });
}

/** The files that a command writes. */
interface WrittenByCommand {
  readonly files?: ShellArguments;
  /** For a folder, everything below it is written, moved or deleted. */
  readonly trees?: ShellArguments;
  /** Like `trees`, but the paths themselves are removed: for a link, the link and not its target. */
  readonly removed?: ShellArguments;
  /** Like `trees`, but relative to the top of the working tree. */
  readonly fromTop?: ShellArguments;
}

type WriterRule = (args: ShellArguments, documents: readonly string[]) => WrittenByCommand;

/** Into a folder or onto a file: only the disk knows which. If it is a file, nothing is below it. */
function intoOrOnto(sources: ShellArguments, target: string | undefined): WrittenByCommand {
  if (target === undefined) return {};
  const folder = target.endsWith('/') ? target : `${target}/`;
  const trees = sources.flatMap((source) => (source === undefined ? [] : [`${folder}${basename(source)}`]));
  return { files: folder === target || sources.length > 1 ? [] : [target], trees };
}

const INTO = ['-t', '--target-directory'];

/** The copied paths and their target. */
function copied(args: ShellArguments, withValue: readonly string[]): { sources: ShellArguments; target: string | undefined; writes: WrittenByCommand } {
  const [folder] = valuesOf(args, ...INTO);
  const operands = operandsOf(args, [...INTO, ...withValue]);
  const sources = folder === undefined ? operands.slice(0, -1) : operands;
  const target = folder === undefined ? operands.at(-1) : `${folder}/`;
  return { sources, target, writes: sources.length === 0 ? {} : intoOrOnto(sources, target) };
}

const SUFFIX = ['-S', '--suffix'];

const copy =
  (withValue: readonly string[] = SUFFIX): WriterRule =>
  (args) =>
    copied(args, withValue).writes;

const move: WriterRule = (args) => {
  const { sources, writes } = copied(args, SUFFIX);
  return { ...writes, removed: sources };
};

const link: WriterRule = (args) => {
  const operands = operandsOf(args, [...INTO, ...SUFFIX]);
  const [only] = operands;
  return operands.length === 1 && only !== undefined ? { files: [basename(only)] } : copied(args, SUFFIX).writes;
};

/** The content of `folder/` goes into the target itself. */
const synchronize: WriterRule = (args) => {
  const { sources, target, writes } = copied(args, ['-e', '--rsh', '--exclude', '--include', '-f', '--filter']);
  const isHere = (path: string | undefined) => !path?.includes(':');
  const whole = sources.some((source) => source?.endsWith('/')) ? [target] : [];
  return { files: writes.files?.filter(isHere) ?? [], trees: [...whole, ...(writes.trees ?? [])].filter(isHere) };
};

/** `sed -i`, `perl -pi -e`: the files after the script, which an option may already have given. */
const inPlace =
  (isInPlace: RegExp, isScript: RegExp): WriterRule =>
  (args) => {
    const options = args.filter((word): word is string => word?.startsWith('-') === true);
    if (!options.some((word) => isInPlace.test(word))) return {};
    const scripts = options.filter((word) => isScript.test(word));
    // With BSD's `sed -i ''`, which keeps no copy, the empty word names no file.
    const operands = operandsOf(args, scripts).filter((word) => word !== '');
    const hasScript = scripts.length > 0 || options.some((word) => /^--(expression|file)=/.test(word));
    return { files: hasScript ? operands : operands.slice(1) };
  };

const stripOf = (args: ShellArguments, otherwise: number): number => {
  const short = args.find((word) => /^-p\d+$/.test(word ?? ''))?.slice(2);
  return Number(short ?? valuesOf(args, '-p', '--strip')[0] ?? otherwise) || 0;
};

/** `:/src` is relative to the top of the working tree, wherever git runs. */
const FROM_TOP = /^:(\/|\(top\))\/*/;

const pathspecs = (words: ShellArguments): WrittenByCommand => ({
  trees: words.filter((word) => !FROM_TOP.test(word ?? '')),
  fromTop: words.filter((word) => FROM_TOP.test(word ?? '')).map((word) => word?.replace(FROM_TOP, '')),
});

/** `git checkout [branch] [--] file…`. A single name may be a branch or a file. It counts as a file if only files have its form or ending. */
const checkout: WriterRule = (args) => {
  if (args.includes('--')) return pathspecs(args.slice(args.indexOf('--') + 1));
  if (hasOption(args, '-b', '-B', '--orphan', '--detach', '-d', '-t', '--track')) return {};
  const operands = operandsOf(args);
  return pathspecs(operands.length > 1 ? operands.slice(1) : operands.filter((word) => /\.[a-z]\w*$|^\.\.?(\/|$)|\/$/i.test(word ?? '')));
};

/** Without a name, `git clean` deletes untracked files, which the line does not name. `-X` deletes only ignored files, which nobody claims. */
const clean: WriterRule = (args) => {
  if (args.some((word) => word === '--dry-run' || /^-[a-zA-Z]*[nX]/.test(word ?? ''))) return {};
  return pathspecs(operandsOf(args, ['-e', '--exclude']));
};

/** `-um why` also takes the next word as its message. */
const stash: WriterRule = ([verb, ...args]) => {
  const messages = args.filter((word): word is string => /^(-[a-ln-z]*m|--message)$/i.test(word ?? ''));
  return verb === 'push' ? pathspecs(operandsOf(args, messages)) : {};
};

/** To git, a link is a file of its own. */
const gone = ({ trees = [], ...writes }: WrittenByCommand): WrittenByCommand => ({ ...writes, removed: trees });

/** The git commands that name the files they write. */
const GIT: Readonly<Record<string, WriterRule>> = {
  checkout,
  clean,
  restore: (args) => (hasOption(args, '-S', '--staged') && !hasOption(args, '-W', '--worktree') ? {} : pathspecs(operandsOf(args, ['-s', '--source']))),
  rm: (args) => (hasOption(args, '--cached') ? {} : gone(pathspecs(operandsOf(args)))),
  mv: move,
  stash,
  apply: (args, documents) => ({ files: documents.flatMap((diff) => diffedFiles(diff, stripOf(args, 1))) }),
};

/** Programs that write files named in their arguments. */
const WRITERS: Readonly<Record<string, WriterRule>> = {
  tee: (args) => ({ files: operandsOf(args) }),
  touch: (args) => ({ files: operandsOf(args, ['-d', '--date', '-r', '--reference', '-t']) }),
  truncate: (args) => ({ files: operandsOf(args, ['-s', '--size', '-r', '--reference']) }),
  rm: (args) => ({ removed: operandsOf(args) }),
  unlink: (args) => ({ files: operandsOf(args) }),
  shred: (args) => ({ files: operandsOf(args, ['-n', '-s']) }),
  cp: copy(),
  install: (args) => (args.includes('-d') ? {} : copy(['-m', '--mode', '-o', '--owner', '-g', '--group', ...SUFFIX])(args, [])),
  rsync: synchronize,
  mv: move,
  ln: link,
  dd: (args) => ({ files: args.flatMap((word) => (word?.startsWith('of=') ? [word.slice(3)] : [])) }),
  sed: inPlace(/^(-[nrEsuz]*i|--in-place)/, /^(-[nrEsuz]*[ef]|--expression|--file)$/),
  perl: inPlace(/^-[0-9lnpaw]*i/, /^-[a-zA-Z0-9]*[eE]$/),
  patch: (args, documents) => ({
    files: [
      ...operandsOf(args, ['-i', '--input', '-p', '--strip', '-o', '--output', '-d', '--directory']).slice(0, 1),
      ...valuesOf(args, '-o', '--output'),
      ...documents.flatMap((diff) => diffedFiles(diff, stripOf(args, 0))),
    ],
  }),
  sort: (args) => ({ files: valuesOf(args, '-o', '--output') }),
  // Also `-sSLo file`.
  curl: (args) => ({ files: [...valuesOf(args, '--output'), ...args.flatMap((word, at) => (/^-[a-zA-Z]*o$/.test(word ?? '') ? [args[at + 1]] : []))] }),
  wget: (args) => ({ files: valuesOf(args, '-O', '--output-document') }),
  apply_patch: (args, documents) => ({ files: [...args, ...documents].flatMap((patch) => (patch === undefined ? [] : patchedFiles(patch))) }),
};

const writerNamed = (writers: typeof WRITERS, name: string | undefined): WriterRule | undefined =>
  name !== undefined && Object.hasOwn(writers, name) ? writers[name] : undefined;

export function writtenBy(program: string, args: ShellArguments, documents: readonly string[]): WrittenByCommand {
  const [subcommand, ...rest] = args;
  const writer = program === 'git' ? writerNamed(GIT, subcommand) : writerNamed(WRITERS, program);
  return writer?.(program === 'git' ? rest : args, documents) ?? {};
}
