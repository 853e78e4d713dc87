import type { Client } from './client.ts';
import type { CliOutput } from './output.ts';

/** Thrown if a command is refused or fails. The program then exits with code 1. */
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

/** Thrown if the command line is wrong. The program then exits with code 2, and recommends the help of the command unless `next` contains another step. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly next: string | undefined;
  constructor(message: string, next?: string) {
    super(message);
    this.next = next;
  }
}

export interface CommandOption {
  readonly description: string;
  /** The placeholder that the help shows for the value, such as PATH. An option without this field takes no value. */
  readonly value?: string;
  /** The accepted values, if there are only a few. */
  readonly choices?: readonly string[];
  /** The value that applies if the option is left out. If this value is not constant, a description of it. */
  readonly default?: string | number;
  readonly required?: true;
  /** An earlier name of the option. It still works, but help and completion do not list it. */
  readonly formerly?: string;
}
export type CommandOptions = Readonly<Record<string, CommandOption>>;

export interface CommandArgument {
  /** The name in the help, such as ID. */
  readonly name: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly optional?: true;
}

/** The parsed command line. The commands of every program get these fields. */
export interface BareInvocation {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly json: boolean;
  readonly out: CliOutput;
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

export interface Invocation extends BareInvocation {
  /** Connects to the running server of this home, or opens the database if no server is running. The connection is closed when the command ends. */
  client(): Promise<Client>;
}

/**
 * The result of a command, as JSON for programs and as text for people. Exit code 1 means that the command found a fault. Exit code 3 means that the
 * command denies an action, so that the caller can distinguish a denial from a failure.
 */
export interface CommandResult {
  readonly json: { readonly kind: string; readonly [key: string]: unknown };
  readonly text: string;
  readonly exit?: 0 | 1 | 3;
  /** If true, the text is printed without escaping. Use this only for text that goes to a program or a file, and not to a terminal. */
  readonly verbatim?: boolean;
}

export interface BareCommand<I extends BareInvocation = BareInvocation> {
  /** The name as people type it, such as `tokens create`. */
  readonly name: string;
  /** Earlier names of the command. They still work, but help and completion do not list them. */
  readonly formerly?: readonly string[];
  /** One sentence of at most 70 characters. */
  readonly summary: string;
  /** Details that the summary does not mention. */
  readonly description?: string;
  readonly arguments?: readonly CommandArgument[];
  readonly options?: CommandOptions;
  /** Complete command lines, except for the name of the program. */
  readonly examples: readonly [string, ...string[]];
  /** Help and completion do not list this command, because only programs start it or because a newer command replaces it. */
  readonly hidden?: true;
  /** The command works on files of this machine and not in a workspace, so it takes no `--workspace`. */
  readonly local?: true;
  /** Returns nothing if the command has printed its result itself. */
  run(invocation: I): Promise<CommandResult | undefined>;
}

export type CliCommand = BareCommand<Invocation>;

/** A single command, or all commands that share a first word. Their code is loaded only when one of them is called. */
export interface CommandGroup<I extends BareInvocation = Invocation> {
  readonly name: string;
  readonly summary: string;
  /** The heading in the help under which this group is listed. A group without a heading is not listed. */
  readonly section?: string;
  load(): Promise<readonly BareCommand<I>[]>;
}

export const option = (invocation: BareInvocation, name: string): string | undefined => {
  const value = invocation.values[name];
  return typeof value === 'string' ? value : undefined;
};

/** Returns the named options as the input of an action. Options that were not given are left out. */
export function given(invocation: BareInvocation, ...names: string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (typeof invocation.values[name] === 'string' ? [[name, invocation.values[name] as string]] : [])));
}

/** Returns the value of an option as a number. The server checks whether the number is in range. */
export function numberOption(invocation: BareInvocation, name: string): number | undefined {
  const text = option(invocation, name);
  if (text === undefined) return undefined;
  if (text.trim() === '' || !Number.isFinite(Number(text))) throw new UsageError(`\`--${name}\` must be a number, for example --${name} 5`);
  return Number(text);
}

export function upToThousand(text: string | undefined, what: string): number {
  if (text !== undefined && /^[1-9]\d{0,3}$/.test(text) && Number(text) <= 1_000) return Number(text);
  throw new UsageError(`\`${what}\` must be a whole number from 1 to 1000`);
}

/** Signals that follow the first one this fast are the same stop: npm and service managers signal a process and its parent, which passes the signal on. */
const SAME_STOP_MS = 1_000;

/** The last is sent when a terminal closes. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls `stop` on the first of these signals. A later signal ends the process immediately. Returns a function that removes the listeners. */
export function onStopSignal(stop: () => void): () => void {
  let first: number | undefined;
  const listener = () => {
    if (first !== undefined && performance.now() - first > SAME_STOP_MS) process.exit(1);
    if (first === undefined) stop();
    first ??= performance.now();
  };
  for (const signal of STOP_SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, listener);
  };
}

/** Aborts the work on a stop signal, so that it can clean up first. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>, reason?: Error): Promise<T> {
  const stop = new AbortController();
  const remove = onStopSignal(() => stop.abort(reason));
  try {
    return await work(stop.signal);
  } finally {
    remove();
  }
}
