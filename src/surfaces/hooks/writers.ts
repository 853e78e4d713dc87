import { basename } from 'node:path';
import { diffedFiles, patchedFiles } from './patch.ts';

/** Arguments as far as they are known: a word that only the shell knows is undefined, and stands for no file. */
export type Arguments = readonly (string | undefined)[];

type Writer = (args: Arguments, documents: readonly string[]) => Arguments;

/** Options that take the next word as their value. The rest stand alone. */
const operandsOf = (args: Arguments, withValue: readonly string[] = []): Arguments => {
  const operands: (string | undefined)[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === '--') return [...operands, ...args.slice(at + 1)];
    if (word !== undefined && word.length > 1 && word.startsWith('-')) {
      if (withValue.includes(word)) at++;
    } else operands.push(word);
  }
  return operands;
};

const valuesOf = (args: Arguments, ...names: string[]): Arguments =>
  args.flatMap((word, at) => {
    if (word === undefined) return [];
    if (names.includes(word)) return [args[at + 1]];
    const whole = names.find((name) => name.startsWith('--') && word.startsWith(`${name}=`));
    return whole ? [word.slice(whole.length + 1)] : [];
  });

/** Into a folder or onto a file: only the disk knows which, and where it is a file there is nothing beneath it. */
function intoOrOnto(sources: Arguments, target: string | undefined): Arguments {
  if (target === undefined) return [];
  const beneath = sources.flatMap((source) => (source === undefined ? [] : [`${target.replace(/\/+$/, '')}/${basename(source)}`]));
  return target.endsWith('/') || sources.length > 1 ? beneath : [target, ...beneath];
}

const copy =
  (withValue: readonly string[] = []): Writer =>
  (args) => {
    const [folder] = valuesOf(args, '-t', '--target-directory');
    const operands = operandsOf(args, ['-t', '--target-directory', ...withValue]);
    if (folder !== undefined) return intoOrOnto(operands, `${folder}/`);
    return operands.length < 2 ? [] : intoOrOnto(operands.slice(0, -1), operands.at(-1));
  };

const move: Writer = (args) => {
  const operands = operandsOf(args, ['-t', '--target-directory', '-S', '--suffix']);
  const sources = valuesOf(args, '-t', '--target-directory').length > 0 ? operands : operands.slice(0, -1);
  return [...sources, ...copy(['-S', '--suffix'])(args, [])];
};

const link: Writer = (args) => {
  const operands = operandsOf(args, ['-t', '--target-directory', '-S', '--suffix']);
  const [only] = operands;
  return operands.length === 1 && only !== undefined ? [basename(only)] : copy(['-S', '--suffix'])(args, []);
};

/** `sed -i`, `perl -pi -e`: the files behind the script, which an option may have given already. */
const inPlace =
  (isInPlace: RegExp, isScript: RegExp): Writer =>
  (args) => {
    const options = args.filter((word): word is string => word?.startsWith('-') === true);
    if (!options.some((word) => isInPlace.test(word))) return [];
    const scripts = options.filter((word) => isScript.test(word));
    // Where BSD's `sed -i ''` keeps no copy, the empty word names no file either.
    const operands = operandsOf(args, scripts).filter((word) => word !== '');
    return scripts.length > 0 || options.some((word) => /^--(expression|file)=/.test(word)) ? operands : operands.slice(1);
  };

const stripOf = (args: Arguments, otherwise: number): number => {
  const short = args.find((word) => /^-p\d+$/.test(word ?? ''))?.slice(2);
  return Number(short ?? valuesOf(args, '-p', '--strip')[0] ?? otherwise) || 0;
};

const has = (args: Arguments, ...options: string[]): boolean => args.some((word) => word !== undefined && options.includes(word));

/** `git checkout [branch] [--] file…`. A single name may be either: with an ending it is a file. */
const checkout: Writer = (args) => {
  if (args.includes('--')) return args.slice(args.indexOf('--') + 1);
  if (has(args, '-b', '-B', '--orphan', '--detach', '-d', '-t', '--track')) return [];
  const operands = operandsOf(args);
  return operands.length > 1 ? operands.slice(1) : operands.filter((word) => /\.[a-z]\w*$/i.test(word ?? ''));
};

/** Of what `git` does, that which names the files it writes. */
const GIT: Readonly<Record<string, Writer>> = {
  checkout,
  restore: (args) => (has(args, '-S', '--staged') && !has(args, '-W', '--worktree') ? [] : operandsOf(args, ['-s', '--source'])),
  rm: (args) => (has(args, '--cached') ? [] : operandsOf(args)),
  mv: move,
  apply: (args, documents) => documents.flatMap((diff) => diffedFiles(diff, stripOf(args, 1))),
};

/** Programs that write files which their arguments name. */
const WRITERS: Readonly<Record<string, Writer>> = {
  tee: (args) => operandsOf(args),
  touch: (args) => operandsOf(args, ['-d', '--date', '-r', '--reference', '-t']),
  truncate: (args) => operandsOf(args, ['-s', '--size', '-r', '--reference']),
  rm: (args) => operandsOf(args),
  unlink: (args) => operandsOf(args),
  shred: (args) => operandsOf(args, ['-n', '-s']),
  cp: copy(['-S', '--suffix']),
  install: (args) => (args.includes('-d') ? [] : copy(['-m', '--mode', '-o', '--owner', '-g', '--group', '-S', '--suffix'])(args, [])),
  rsync: (args) => copy(['-e', '--rsh', '--exclude', '--include', '-f', '--filter'])(args, []).filter((path) => !path?.includes(':')),
  mv: move,
  ln: link,
  dd: (args) => args.flatMap((word) => (word?.startsWith('of=') ? [word.slice(3)] : [])),
  sed: inPlace(/^(-[nrEsuz]*i|--in-place)/, /^(-[nrEsuz]*[ef]|--expression|--file)$/),
  perl: inPlace(/^-[0-9lnpaw]*i/, /^-[a-zA-Z0-9]*[eE]$/),
  patch: (args, documents) => [
    ...operandsOf(args, ['-i', '--input', '-p', '--strip', '-o', '--output', '-d', '--directory']).slice(0, 1),
    ...valuesOf(args, '-o', '--output'),
    ...documents.flatMap((diff) => diffedFiles(diff, stripOf(args, 0))),
  ],
  sort: (args) => valuesOf(args, '-o', '--output'),
  // `-sSLo file` as well.
  curl: (args) => valuesOf(args, '--output', ...args.filter((word): word is string => /^-[a-zA-Z]*o$/.test(word ?? ''))),
  wget: (args) => valuesOf(args, '-O', '--output-document'),
  apply_patch: (args, documents) => [...args, ...documents].flatMap((patch) => (patch === undefined ? [] : patchedFiles(patch))),
};

const writerNamed = (writers: typeof WRITERS, name: string | undefined): Writer | undefined =>
  name !== undefined && Object.hasOwn(writers, name) ? writers[name] : undefined;

export function writtenBy(program: string, args: Arguments, documents: readonly string[]): Arguments {
  const [subcommand, ...rest] = args;
  const writer = program === 'git' ? writerNamed(GIT, subcommand) : writerNamed(WRITERS, program);
  return writer?.(program === 'git' ? rest : args, documents) ?? [];
}
