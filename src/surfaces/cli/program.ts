import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { Refusal } from '../../kernel/reply.ts';
import { type BareCommand, type BareInvocation, CliError, UsageError } from './command.ts';
import { createOutput } from './output.ts';

/** A failure, in the shape that `--json` prints. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly next: string;
}

interface Program<I extends BareInvocation> {
  readonly name: string;
  readonly version: string;
  readonly commands: readonly BareCommand<I>[];
  /** Describes errors that only this program knows. */
  readonly faultOf?: (error: unknown) => Fault | undefined;
  /** The last line of the help. */
  readonly footer: string;
}

/** Where a program is called: what it prints to, and the folder that it works in. */
export type Terminal = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'cwd'>;

/** Every command takes these. */
const GLOBAL: ParseArgsOptionsConfig = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } };
const IN_WORKSPACE: ParseArgsOptionsConfig = { workspace: { type: 'string' } };

/** A program of commands. `more`: what its commands get besides what they were called with. Exit code: 0 done, 1 refused or failed, 2 called wrongly. */
export async function runProgram<I extends BareInvocation>(
  program: Program<I>,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  more: (bare: BareInvocation) => Omit<I, keyof BareInvocation>,
  terminal: Terminal = process,
): Promise<0 | 1 | 2 | 3> {
  const out = createOutput(env, terminal.stdout, terminal.stderr);
  const json = argv.includes('--json');
  try {
    if (argv[0] === '--version') {
      out.result(program.version);
      return 0;
    }
    const command = findCommand(program.commands, argv);
    if (!command || argv.includes('--help') || argv.includes('-h')) {
      if (argv.length > 0 && !argv.includes('--help') && !argv.includes('-h')) throw new UsageError(unknownCommand(program.commands, argv));
      out.result(command ? commandHelp(program.name, command) : help(program));
      return 0;
    }
    const { values, positionals } = parse(command, argv);
    const bare: BareInvocation = { env, cwd: terminal.cwd(), json, out, values, positionals };
    const result = await command.run({ ...bare, ...more(bare) } as I);
    if (result?.verbatim && !json) out.verbatim(result.text);
    else if (result) out.result(json ? JSON.stringify(result.json) : result.text);
    return result?.exit ?? 0;
  } catch (error) {
    const fault = describe(program, error);
    if (json) out.result(JSON.stringify({ kind: 'error', code: fault.code, message: fault.message, next: fault.next }));
    else out.note(`${out.mark.bad} ${fault.message}${fault.next ? `\n    next: ${fault.next}` : ''}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

type Named = Pick<BareCommand<never>, 'name' | 'summary' | 'positionals' | 'options' | 'internal' | 'local'>;

/** Names the subcommands if the first word has any. */
function unknownCommand(commands: readonly Named[], argv: readonly string[]): string {
  const parts = commands.filter(({ name }) => name.startsWith(`${argv[0]} `)).map(({ name }) => name.split(' ')[1]);
  return parts.length > 0 ? `${argv[0]} takes one of ${parts.join(', ')}` : `there is no command ${JSON.stringify(argv.slice(0, 2).join(' '))}`;
}

function findCommand<C extends Named>(commands: readonly C[], argv: readonly string[]): C | undefined {
  const words = argv.filter((word) => !word.startsWith('-'));
  return commands.find(({ name }) => name === words.slice(0, 2).join(' ')) ?? commands.find(({ name }) => name === words[0]);
}

function parse(command: Named, argv: readonly string[]) {
  const skip = command.name.split(' ').length;
  const rest = [...argv];
  for (let removed = 0; removed < skip; removed++) {
    rest.splice(
      rest.findIndex((word) => !word.startsWith('-')),
      1,
    );
  }
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: rest, options: { ...GLOBAL, ...(command.local ? {} : IN_WORKSPACE), ...command.options }, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0] ?? '');
  }
  const wanted = command.positionals ?? [];
  const needed = wanted.filter((name) => !name.startsWith('['));
  if (parsed.positionals.length < needed.length) throw new UsageError(`${needed[parsed.positionals.length]} is missing`);
  if (parsed.positionals.length > wanted.length) throw new UsageError(`unexpected ${JSON.stringify(parsed.positionals[wanted.length])}`);
  return { values: parsed.values as BareInvocation['values'], positionals: parsed.positionals };
}

function describe<I extends BareInvocation>({ name, faultOf }: Program<I>, error: unknown): Fault {
  if (error instanceof CliError || error instanceof Refusal) return error;
  if (error instanceof UsageError) return { code: 'USAGE', message: error.message, next: `${name} --help` };
  return faultOf?.(error) ?? { code: 'INTERNAL', message: error instanceof Error ? error.message : String(error), next: `${name} doctor` };
}

function help<I extends BareInvocation>({ name: program, version, commands, footer }: Program<I>): string {
  const typed = commands.filter(({ internal }) => !internal);
  const width = Math.max(...typed.map(({ name }) => name.length));
  const lines = typed.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `${program} ${version}\n\n${lines.join('\n')}\n\n${footer}`;
}

function commandHelp(program: string, command: Named): string {
  const options = Object.entries(command.options ?? {}).map(([name, { type }]) => `[--${name}${type === 'string' ? ' …' : ''}]`);
  return `${program} ${[command.name, ...(command.positionals ?? []), ...options].join(' ')}\n\n${command.summary}`;
}
