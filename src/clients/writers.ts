import { basename } from 'node:path';

/** The arguments of a command. An argument that only a shell can determine is undefined, and does not count as a file. */
export type ShellArguments = readonly (string | undefined)[];

/** Returns the arguments that are not options. `withValue`: the options that take the next word as their value. */
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

/** Returns the files that a patch in Codex's format would write, move or delete. */
export function patchedFiles(patch: string): string[] {
  const files: string[] = [];
  for (const line of patch.split('\n')) {
    // Codex accepts spaces around these lines.
    const head = line.trim();
    const file = HEADS.flatMap((start) => (head.startsWith(start) ? [head.slice(start.length).trim()] : []))[0];
    if (file) files.push(file);
  }
  return files;
}

const HEADS = ['*** Add File: ', '*** Update File: ', '*** Delete File: ', '*** Move to: '];

/** Returns the files that a unified diff would write. Removes the first `strip` folders from each path, like `patch -p`. */
function diffedFiles(diff: string, strip: number): string[] {
  return diff.split('\n').flatMap((line) => {
    if (!line.startsWith('+++ ') && !line.startsWith('--- ')) return [];
    const [name = ''] = line.slice(4).split('\t');
    const file = name.trim().split('/').slice(strip).join('/');
    return name.trim() === '/dev/null' || file === '' ? [] : [file];
  });
}

interface WrittenByCommand {
  readonly files?: ShellArguments;
  /** Files and folders. For a folder, everything below it counts as written, moved or deleted. */
  readonly trees?: ShellArguments;
  /** Like `trees`, but the paths themselves are removed. For a symbolic link this means the link, not its target. */
  readonly removed?: ShellArguments;
  /** Like `trees`, but the paths are relative to the top of the working tree. */
  readonly fromTop?: ShellArguments;
}

type WriterRule = (args: ShellArguments, documents: readonly string[]) => WrittenByCommand;

/**
 * The target may be a folder or a file, and the command line does not show which. So the result contains both the target itself
 * and the paths of the sources inside it.
 */
function intoOrOnto(sources: ShellArguments, target: string | undefined): WrittenByCommand {
  if (target === undefined) return {};
  const folder = target.endsWith('/') ? target : `${target}/`;
  const trees = sources.flatMap((source) => (source === undefined ? [] : [`${folder}${basename(source)}`]));
  return { files: folder === target || sources.length > 1 ? [] : [target], trees };
}

const INTO = ['-t', '--target-directory'];

/** Returns the paths that a command copies, and their target. */
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

/** rsync copies the content of a source such as `folder/` into the target itself, because of the slash at the end. */
const synchronize: WriterRule = (args) => {
  const { sources, target, writes } = copied(args, ['-e', '--rsh', '--exclude', '--include', '-f', '--filter']);
  const isHere = (path: string | undefined) => !path?.includes(':');
  const whole = sources.some((source) => source?.endsWith('/')) ? [target] : [];
  return { files: writes.files?.filter(isHere) ?? [], trees: [...whole, ...(writes.trees ?? [])].filter(isHere) };
};

/** For `sed -i` and `perl -pi -e`. The first argument is the script, unless an option contains it. The other arguments are the files. */
const inPlace =
  (isInPlace: RegExp, isScript: RegExp): WriterRule =>
  (args) => {
    const options = args.filter((word): word is string => word?.startsWith('-') === true);
    if (!options.some((word) => isInPlace.test(word))) return {};
    const scripts = options.filter((word) => isScript.test(word));
    // In BSD's `sed -i ''`, the empty word means that no backup is kept. It is not a file.
    const operands = operandsOf(args, scripts).filter((word) => word !== '');
    const hasScript = scripts.length > 0 || options.some((word) => /^--(expression|file)=/.test(word));
    return { files: hasScript ? operands : operands.slice(1) };
  };

const stripOf = (args: ShellArguments, otherwise: number): number => {
  const short = args.find((word) => /^-p\d+$/.test(word ?? ''))?.slice(2);
  return Number(short ?? valuesOf(args, '-p', '--strip')[0] ?? otherwise) || 0;
};

/** Matches git paths such as `:/src`, which are relative to the top of the working tree, regardless of the folder in which git runs. */
const FROM_TOP = /^:(\/|\(top\))\/*/;

const pathspecs = (words: ShellArguments): WrittenByCommand => ({
  trees: words.filter((word) => !FROM_TOP.test(word ?? '')),
  fromTop: words.filter((word) => FROM_TOP.test(word ?? '')).map((word) => word?.replace(FROM_TOP, '')),
});

/**
 * `git checkout [branch] [--] file…`. A single name may be a branch or a file. It counts as a file if it has a file ending or
 * another form that branches do not have.
 */
const checkout: WriterRule = (args) => {
  if (args.includes('--')) return pathspecs(args.slice(args.indexOf('--') + 1));
  if (hasOption(args, '-b', '-B', '--orphan', '--detach', '-d', '-t', '--track')) return {};
  const operands = operandsOf(args);
  return pathspecs(operands.length > 1 ? operands.slice(1) : operands.filter((word) => /\.[a-z]\w*$|^\.\.?(\/|$)|\/$/i.test(word ?? '')));
};

/**
 * `git clean` without a path deletes untracked files, whose names are not in the command line. With `-X` it deletes only ignored
 * files, which nobody claims.
 */
const clean: WriterRule = (args) => {
  if (args.some((word) => word === '--dry-run' || /^-[a-zA-Z]*[nX]/.test(word ?? ''))) return {};
  return pathspecs(operandsOf(args, ['-e', '--exclude']));
};

/** A group of options such as `-um` takes the next word as its message, too. */
const stash: WriterRule = ([verb, ...args]) => {
  const messages = args.filter((word): word is string => /^(-[a-ln-z]*m|--message)$/i.test(word ?? ''));
  return verb === 'push' ? pathspecs(operandsOf(args, messages)) : {};
};

/** Turns `trees` into `removed`, because git treats a symbolic link as a file of its own. */
const gone = ({ trees = [], ...writes }: WrittenByCommand): WrittenByCommand => ({ ...writes, removed: trees });

/** The git commands whose arguments contain the files that they write. */
const GIT: Readonly<Record<string, WriterRule>> = {
  checkout,
  clean,
  restore: (args) => (hasOption(args, '-S', '--staged') && !hasOption(args, '-W', '--worktree') ? {} : pathspecs(operandsOf(args, ['-s', '--source']))),
  rm: (args) => (hasOption(args, '--cached') ? {} : gone(pathspecs(operandsOf(args)))),
  mv: move,
  stash,
  apply: (args, documents) => ({ files: documents.flatMap((diff) => diffedFiles(diff, stripOf(args, 1))) }),
};

/** The programs whose arguments contain the files that they write. */
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
  // `-o` may be the last of a group of options, as in `-sSLo file`.
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
