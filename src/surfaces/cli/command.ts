import type { Client } from './client.ts';
import type { CliOutput } from './output.ts';

/** The command was refused or failed: exit 1. */
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

/** The command was called wrongly: exit 2. The next step is the help of the command, unless `next` names another. */
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
  /** The name of the value in the help, such as PATH. An option without this field is a switch. */
  readonly value?: string;
  /** The accepted values, if there are only a few. */
  readonly choices?: readonly string[];
  /** The value if the option is left out, or a description of it if it is not constant. */
  readonly default?: string | number;
  readonly required?: true;
  /** An earlier spelling. It still works, and neither help nor completion lists it. */
  readonly formerly?: string;
}
export type CommandOptions = Readonly<Record<string, CommandOption>>;

export interface CommandArgument {
  /** As the help shows it: ID. */
  readonly name: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly optional?: true;
}

/** The parsed command line, for a command of any program. */
export interface BareInvocation {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly json: boolean;
  readonly out: CliOutput;
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

export interface Invocation extends BareInvocation {
  /** Connects to the running server of this home, or opens its database if no server is running. Closed when the command ends. */
  client(): Promise<Client>;
}

/** The result of a command, for programs and for people. Exit code 1: the command found a fault. Exit code 3: a denial, which must differ from a failure. */
export interface CommandResult {
  readonly json: { readonly kind: string; readonly [key: string]: unknown };
  readonly text: string;
  readonly exit?: 0 | 1 | 3;
  /** Print the text without escaping, because a program or a file reads it and not a terminal. */
  readonly verbatim?: boolean;
}

export interface BareCommand<I extends BareInvocation = BareInvocation> {
  /** As typed: `tokens create`. */
  readonly name: string;
  /** Earlier names. They still work, and neither help nor completion lists them. */
  readonly formerly?: readonly string[];
  /** One sentence of at most 70 characters. */
  readonly summary: string;
  /** Details that the summary leaves out. */
  readonly description?: string;
  readonly arguments?: readonly CommandArgument[];
  readonly options?: CommandOptions;
  /** Whole command lines without the name of the program. */
  readonly examples: readonly [string, ...string[]];
  /** Neither help nor completion lists this command, because only programs start it or because a newer command replaces it. */
  readonly hidden?: true;
  /** Works on this machine's files, not in a workspace. */
  readonly local?: true;
  /** Returns nothing if the command has printed its result itself. */
  run(invocation: I): Promise<CommandResult | undefined>;
}

export type CliCommand = BareCommand<Invocation>;

/** A command, or several commands with the same first word. Loaded when one of these commands is called. */
export interface CommandGroup<I extends BareInvocation = Invocation> {
  readonly name: string;
  readonly summary: string;
  /** The heading in the help. A group without one is hidden. */
  readonly section?: string;
  load(): Promise<readonly BareCommand<I>[]>;
}

export const option = (invocation: BareInvocation, name: string): string | undefined => {
  const value = invocation.values[name];
  return typeof value === 'string' ? value : undefined;
};

/** Only the options that were given, as the input of an action. */
export function given(invocation: BareInvocation, ...names: string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (typeof invocation.values[name] === 'string' ? [[name, invocation.values[name] as string]] : [])));
}

/** The number in an option. The server checks its range. */
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

/** Aborts the work on SIGINT or SIGTERM, so that it can clean up first. A second signal ends the process. */
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
