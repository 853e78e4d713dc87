import type { ParseArgsOptionsConfig } from 'node:util';
import type { Client } from './client.ts';
import type { CliOutput } from './output.ts';

/** Refused or failed: exit 1. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: string;
  readonly next: string;
  constructor(code: string, message: string, next: string) {
    super(message);
    this.code = code;
    this.next = next;
  }
}

/** Called wrongly: exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The arguments of a command, of either program. */
export interface BareInvocation {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly json: boolean;
  readonly out: CliOutput;
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

export interface Invocation extends BareInvocation {
  /** The running server of this home, or its store where none runs. Closed when the command ends. */
  client(): Promise<Client>;
}

/** The result of a command, for programs and for people. Exit 1: it found a fault. 3: a denial, which callers must be able to tell from a failure. */
export interface CommandResult {
  readonly json: { readonly kind: string; readonly [key: string]: unknown };
  readonly text: string;
  readonly exit?: 0 | 1 | 3;
  /** The text goes out without escaping, for a reader that is no terminal. */
  readonly verbatim?: boolean;
}

export interface BareCommand<I extends BareInvocation = BareInvocation> {
  /** As typed: `tokens create`. */
  readonly name: string;
  readonly summary: string;
  /** The arguments after the name, optional ones in brackets. */
  readonly positionals?: readonly string[];
  readonly options?: ParseArgsOptionsConfig;
  /** Started by the program itself. The help does not list it. */
  readonly internal?: true;
  /** Works on this machine's files, not in a workspace. */
  readonly local?: true;
  /** Nothing, where the command has printed for itself. */
  run(invocation: I): Promise<CommandResult | undefined>;
}

export type CliCommand = BareCommand<Invocation>;

export const option = (invocation: BareInvocation, name: string): string | undefined => {
  const value = invocation.values[name];
  return typeof value === 'string' ? value : undefined;
};

/** Only the options that were given, as the input of an action. */
export function given(invocation: BareInvocation, ...names: string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (typeof invocation.values[name] === 'string' ? [[name, invocation.values[name] as string]] : [])));
}

/** A number that was given as an option; what number fits the server knows. */
export function numberOption(invocation: BareInvocation, name: string): number | undefined {
  const text = option(invocation, name);
  if (text === undefined) return undefined;
  if (text.trim() === '' || !Number.isFinite(Number(text))) throw new UsageError(`--${name} is not a number`);
  return Number(text);
}

export function upToThousand(text: string | undefined, what: string): number {
  if (text !== undefined && /^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new UsageError(`${what} is not a number from 1 to 1000`);
}

/** The work is told when somebody ends the program, and may clean up first. A second signal ends the process at once. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>, reason?: Error): Promise<T> {
  const stop = new AbortController();
  const interrupt = () => stop.abort(reason);
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await work(stop.signal);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

const EVERY_MS = 5_000;

/** A line of narration each five seconds, and none for what is over sooner. */
export function everyFiveSeconds({ out, json }: Invocation): (line: () => string) => void {
  let last = performance.now();
  return (line) => {
    if (json || performance.now() - last < EVERY_MS) return;
    last = performance.now();
    out.note(line());
  };
}
