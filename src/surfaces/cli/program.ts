import { Refusal } from '../../kernel/reply.ts';
import { type BareInvocation, CliError, type CommandGroup, UsageError } from './command.ts';
import { createOutput } from './output.ts';
import { beforeEnd, findCommand, parseCommand, refuseOptionsBefore, type Target } from './parse.ts';

/** A failure in the format that `--json` prints. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly next: string;
}

export interface CliProgram<I extends BareInvocation> {
  readonly name: string;
  readonly version: string;
  readonly groups: readonly CommandGroup<I>[];
  readonly exits: Readonly<Record<number, string>>;
  /** The last lines of the help. */
  readonly footer: string;
  /** Describes the errors that only this program can throw. Returns undefined for other errors. */
  readonly faultOf?: (error: unknown) => Promise<Fault | undefined>;
}

/** The output streams and the working folder of a program. */
export type Terminal = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'cwd'>;

/** Runs one command line and returns the exit code. `more` returns the invocation fields that only the commands of this program need. */
export async function runProgram<I extends BareInvocation>(
  program: CliProgram<I>,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  more: (bare: BareInvocation) => Omit<I, keyof BareInvocation>,
  terminal: Terminal = process,
): Promise<0 | 1 | 2 | 3> {
  const switches = beforeEnd(argv);
  const out = createOutput(env, terminal.stdout, terminal.stderr, { noColor: switches.includes('--no-color') });
  const json = switches.includes('--json');
  let target: Target<I> | undefined;
  try {
    target = await findCommand(program.name, program.groups, argv);
    if (!target.group && (switches.includes('--version') || switches.includes('-v'))) {
      out.result(program.version);
      return 0;
    }
    if (!target.group) refuseOptionsBefore(program.name, switches);
    const isAsked = target.isHelp || !target.group || switches.includes('--help') || switches.includes('-h');
    if (isAsked || !target.command) {
      if (!isAsked && json) throw new UsageError(`\`${program.name} ${target.group?.name}\` needs a command`);
      const { helpFor } = await import('./help.ts');
      const text = helpFor(program, target);
      if (isAsked) out.result(text);
      else out.note(text);
      return isAsked ? 0 : 2;
    }
    const { command } = target;
    const bare: BareInvocation = { env, cwd: terminal.cwd(), json, out, ...(await parseCommand(program.name, command, target.rest)) };
    // A cluster such as `-hh` is recognised only here.
    if (bare.values.help === true) {
      const { helpFor } = await import('./help.ts');
      out.result(helpFor(program, target));
      return 0;
    }
    const result = await command.run({ ...bare, ...more(bare) } as I);
    if (result?.verbatim && !json) out.verbatim(result.text);
    else if (result) out.result(json ? JSON.stringify(result.json) : result.text);
    return result?.exit ?? 0;
  } catch (error) {
    const fault = await describe(program, error, target?.command?.name ?? target?.group?.name);
    if (json) out.result(JSON.stringify({ kind: 'error', code: fault.code, message: fault.message, next: fault.next }));
    else out.note(`${out.mark.bad} ${fault.message}${fault.next ? `\n    next: ${fault.next}` : ''}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function describe<I extends BareInvocation>({ name, faultOf }: CliProgram<I>, error: unknown, command: string | undefined): Promise<Fault> {
  if (error instanceof CliError || error instanceof Refusal) return error;
  if (error instanceof UsageError) {
    return { code: 'USAGE', message: error.message, next: error.next ?? `${name}${command === undefined ? '' : ` ${command}`} --help` };
  }
  const known = await faultOf?.(error);
  return known ?? { code: 'INTERNAL', message: error instanceof Error ? error.message : String(error), next: `${name} doctor` };
}
