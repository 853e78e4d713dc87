import { resolve } from 'node:path';
import type { ParseArgsOptionsConfig } from 'node:util';
import { CliError, type Invocation, option } from '../command.ts';

/** Which repository a command is about, and how its next command is typed. */

export const IN_REPOSITORY: ParseArgsOptionsConfig = { repository: { type: 'string' } };

/** The server looks for the repository around it; from a part with cycles of its own, those are meant. */
export const pathOf = (invocation: Invocation): string => resolve(invocation.cwd, option(invocation, 'repository') ?? '.');

export const here = (invocation: Invocation): { repository_path: string } => ({ repository_path: pathOf(invocation) });

/** A command that works as it is printed: about the same repository and workspace as this one. */
export function typed(invocation: Invocation, command: string): string {
  const same = ['repository', 'workspace'].flatMap((name) => {
    const value = option(invocation, name);
    return value === undefined ? [] : [`--${name} ${/^[\w./~@+-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`}`];
  });
  return ['covenant', command, ...same].join(' ');
}

/** The contract names its fields; whoever typed a command knows them as options. */
export const wrongOption = ({ code, message }: { code: string; message: string }): CliError =>
  new CliError(code, message.replace('repository_path:', '--repository:').replace(/\b(feature|mode|reason):/, '--$1:'), 'Correct that option.');
