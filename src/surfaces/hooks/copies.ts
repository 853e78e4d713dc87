import { basename } from 'node:path';
import { type Arguments, operandsOf, valuesOf } from './operands.ts';

/** What a command writes. */
export interface Writes {
  readonly files?: Arguments;
  /** Where one is a folder, all beneath it is written, moved or gone. */
  readonly trees?: Arguments;
  /** The same, where they are taken away themselves: a link is not what it leads to. */
  readonly removed?: Arguments;
  /** The same, named from the top of the working tree. */
  readonly fromTop?: Arguments;
}

export type Writer = (args: Arguments, documents: readonly string[]) => Writes;

/** Into a folder or onto a file: only the disk knows which, and where it is a file there is nothing beneath it. */
function intoOrOnto(sources: Arguments, target: string | undefined): Writes {
  if (target === undefined) return {};
  const folder = target.endsWith('/') ? target : `${target}/`;
  const trees = sources.flatMap((source) => (source === undefined ? [] : [`${folder}${basename(source)}`]));
  return { files: folder === target || sources.length > 1 ? [] : [target], trees };
}

const INTO = ['-t', '--target-directory'];

/** What is copied, and where to. */
function copied(args: Arguments, withValue: readonly string[]): { sources: Arguments; target: string | undefined; writes: Writes } {
  const [folder] = valuesOf(args, ...INTO);
  const operands = operandsOf(args, [...INTO, ...withValue]);
  const sources = folder === undefined ? operands.slice(0, -1) : operands;
  const target = folder === undefined ? operands.at(-1) : `${folder}/`;
  return { sources, target, writes: sources.length === 0 ? {} : intoOrOnto(sources, target) };
}

export const SUFFIX = ['-S', '--suffix'];

export const copy =
  (withValue: readonly string[] = SUFFIX): Writer =>
  (args) =>
    copied(args, withValue).writes;

export const move: Writer = (args) => {
  const { sources, writes } = copied(args, SUFFIX);
  return { ...writes, removed: sources };
};

export const link: Writer = (args) => {
  const operands = operandsOf(args, [...INTO, ...SUFFIX]);
  const [only] = operands;
  return operands.length === 1 && only !== undefined ? { files: [basename(only)] } : copied(args, SUFFIX).writes;
};

/** What `folder/` has in it goes into the target itself. */
export const synchronize: Writer = (args) => {
  const { sources, target, writes } = copied(args, ['-e', '--rsh', '--exclude', '--include', '-f', '--filter']);
  const isHere = (path: string | undefined) => !path?.includes(':');
  const whole = sources.some((source) => source?.endsWith('/')) ? [target] : [];
  return { files: writes.files?.filter(isHere) ?? [], trees: [...whole, ...(writes.trees ?? [])].filter(isHere) };
};
