import { copy, link, move, SUFFIX, synchronize, type Writer, type Writes } from './copies.ts';
import { type Arguments, has, operandsOf, valuesOf } from './operands.ts';
import { diffedFiles, patchedFiles } from './patch.ts';

/** `sed -i`, `perl -pi -e`: the files behind the script, which an option may have given already. */
const inPlace =
  (isInPlace: RegExp, isScript: RegExp): Writer =>
  (args) => {
    const options = args.filter((word): word is string => word?.startsWith('-') === true);
    if (!options.some((word) => isInPlace.test(word))) return {};
    const scripts = options.filter((word) => isScript.test(word));
    // Where BSD's `sed -i ''` keeps no copy, the empty word names no file either.
    const operands = operandsOf(args, scripts).filter((word) => word !== '');
    const hasScript = scripts.length > 0 || options.some((word) => /^--(expression|file)=/.test(word));
    return { files: hasScript ? operands : operands.slice(1) };
  };

const stripOf = (args: Arguments, otherwise: number): number => {
  const short = args.find((word) => /^-p\d+$/.test(word ?? ''))?.slice(2);
  return Number(short ?? valuesOf(args, '-p', '--strip')[0] ?? otherwise) || 0;
};

/** `:/src` is from the top of the working tree, wherever git runs. */
const FROM_TOP = /^:(\/|\(top\))\/*/;

const pathspecs = (words: Arguments): Writes => ({
  trees: words.filter((word) => !FROM_TOP.test(word ?? '')),
  fromTop: words.filter((word) => FROM_TOP.test(word ?? '')).map((word) => word?.replace(FROM_TOP, '')),
});

/** `git checkout [branch] [--] file…`. A single name may be either: one with an ending, or that only a file has, is a file. */
const checkout: Writer = (args) => {
  if (args.includes('--')) return pathspecs(args.slice(args.indexOf('--') + 1));
  if (has(args, '-b', '-B', '--orphan', '--detach', '-d', '-t', '--track')) return {};
  const operands = operandsOf(args);
  return pathspecs(operands.length > 1 ? operands.slice(1) : operands.filter((word) => /\.[a-z]\w*$|^\.\.?(\/|$)|\/$/i.test(word ?? '')));
};

/** Without a name it takes away what git does not know, which no line says. `-X` takes away only what git ignores, and nobody claims. */
const clean: Writer = (args) => {
  if (args.some((word) => word === '--dry-run' || /^-[a-zA-Z]*[nX]/.test(word ?? ''))) return {};
  return pathspecs(operandsOf(args, ['-e', '--exclude']));
};

/** `-um why` too takes the next word for its message. */
const stash: Writer = ([verb, ...args]) => {
  const messages = args.filter((word): word is string => /^(-[a-ln-z]*m|--message)$/i.test(word ?? ''));
  return verb === 'push' ? pathspecs(operandsOf(args, messages)) : {};
};

/** Git takes a link for a file of its own. */
const gone = ({ trees = [], ...writes }: Writes): Writes => ({ ...writes, removed: trees });

/** Of what `git` does, that which names the files it writes. */
const GIT: Readonly<Record<string, Writer>> = {
  checkout,
  clean,
  restore: (args) => (has(args, '-S', '--staged') && !has(args, '-W', '--worktree') ? {} : pathspecs(operandsOf(args, ['-s', '--source']))),
  rm: (args) => (has(args, '--cached') ? {} : gone(pathspecs(operandsOf(args)))),
  mv: move,
  stash,
  apply: (args, documents) => ({ files: documents.flatMap((diff) => diffedFiles(diff, stripOf(args, 1))) }),
};

/** Programs that write files which their arguments name. */
const WRITERS: Readonly<Record<string, Writer>> = {
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
  // `-sSLo file` as well.
  curl: (args) => ({ files: [...valuesOf(args, '--output'), ...args.flatMap((word, at) => (/^-[a-zA-Z]*o$/.test(word ?? '') ? [args[at + 1]] : []))] }),
  wget: (args) => ({ files: valuesOf(args, '-O', '--output-document') }),
  apply_patch: (args, documents) => ({ files: [...args, ...documents].flatMap((patch) => (patch === undefined ? [] : patchedFiles(patch))) }),
};

const writerNamed = (writers: typeof WRITERS, name: string | undefined): Writer | undefined =>
  name !== undefined && Object.hasOwn(writers, name) ? writers[name] : undefined;

export function writtenBy(program: string, args: Arguments, documents: readonly string[]): Writes {
  const [subcommand, ...rest] = args;
  const writer = program === 'git' ? writerNamed(GIT, subcommand) : writerNamed(WRITERS, program);
  return writer?.(program === 'git' ? rest : args, documents) ?? {};
}
