import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type BareCommand, type BareInvocation, type CommandGroup, type CommandOption, type CommandOptions, UsageError } from './command.ts';

/** The options that every command takes. They may stand before or after the name of the command. */
export const GLOBAL = {
  json: { description: 'Print one JSON object on standard output.' },
  'no-color': { description: 'Print without colours. The environment variable NO_COLOR has the same effect.' },
  help: { description: 'Show this help.' },
} as const satisfies CommandOptions;
export const IN_WORKSPACE = {
  workspace: { value: 'NAME', description: 'The workspace to work in.', default: 'default' },
} as const satisfies CommandOptions;
const SHORT: Readonly<Record<string, string>> = { help: 'h' };

type Named = BareCommand<never>;

/** The command or group that a command line names. */
export interface Target<I extends BareInvocation> {
  readonly group?: CommandGroup<I>;
  /** The commands of the group. Undefined if the group consists of a single command. */
  readonly commands?: readonly BareCommand<I>[];
  readonly command?: BareCommand<I>;
  /** The command line without the words that name the command. */
  readonly rest: readonly string[];
  /** Whether the first word is `help`. */
  readonly isHelp?: true;
}

/** Returns the words before `--`. The words after `--` are never options. */
export const beforeEnd = (argv: readonly string[]): readonly string[] => (argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv);

export async function findCommand<I extends BareInvocation>(program: string, groups: readonly CommandGroup<I>[], argv: readonly string[]): Promise<Target<I>> {
  const first = nextWord(argv, 0, { ...GLOBAL, ...IN_WORKSPACE });
  if (first === undefined) return { rest: argv };
  const name = argv[first] as string;
  const rest = argv.toSpliced(first, 1);
  if (name === 'help') return { ...(await findCommand(program, groups, rest)), isHelp: true };
  const group = groups.find((each) => each.name === name);
  if (!group) {
    refuseOptionsBefore(program, argv.slice(0, first));
    throw await unknownCommand(program, name, listedNames(groups), `${program} --help`);
  }
  const commands = await group.load();
  const alone = commands.find((command) => command.name === name);
  if (alone) return { group, command: alone, rest };
  const options = Object.assign({}, ...commands.map((command) => command.options ?? {})) as CommandOptions;
  const second = nextWord(rest, first, { ...GLOBAL, ...IN_WORKSPACE, ...options });
  if (second === undefined) return { group, commands, rest };
  const typed = `${name} ${rest[second]}`;
  const command = commands.find((each) => each.name === typed || each.formerly?.includes(typed));
  if (!command) throw await unknownCommand(program, typed, listedNames(commands), `${program} ${name} --help`);
  return { group, commands, command, rest: rest.toSpliced(second, 1) };
}

/** Refuses options other than global options before the name of the command, because the value of such an option would be mistaken for the command. */
export function refuseOptionsBefore(program: string, words: readonly string[]): void {
  const unknown = words.find((word) => /^-./.test(word) && !/^(--(json|help|version|no-color|workspace)(=.*)?|-h|-v)$/.test(word));
  if (unknown !== undefined)
    throw new UsageError(`Unknown option \`${unknown}\` of \`${program}\`. Options of a command go after its name`, `${program} --help`);
}

const listedNames = (all: readonly { name: string; hidden?: true; section?: string }[]): string[] =>
  all.filter((each) => !each.hidden && !('load' in each && each.section === undefined)).map(({ name }) => name);

/** Returns the index of the next word that is neither an option nor the value of an option. */
function nextWord(argv: readonly string[], from: number, options: CommandOptions): number | undefined {
  for (let at = from; at < argv.length; at++) {
    const word = argv[at] as string;
    if (word === '--') return at + 1 < argv.length ? at + 1 : undefined;
    if (!word.startsWith('-') || word === '-') return at;
    if (!word.includes('=') && optionNamed(options, word.replace(/^--/, ''))?.[1].value !== undefined) at++;
  }
  return undefined;
}

async function unknownCommand(program: string, typed: string, names: readonly string[], next: string): Promise<UsageError> {
  const { nearest } = await import('../../wire/nearest.ts');
  const meant = nearest(typed, names);
  return new UsageError(`Unknown command ${JSON.stringify(typed)}.${meant === undefined ? '' : ` Did you mean \`${program} ${meant}\`?`}`, next);
}

export const optionsOf = (command: Named): CommandOptions => ({ ...command.options, ...GLOBAL, ...(command.local ? {} : IN_WORKSPACE) });

/** Finds an option by its name or its earlier spelling. */
const optionNamed = (options: CommandOptions, name: string): [string, CommandOption] | undefined =>
  Object.entries(options).find(([known, { formerly }]) => known === name || formerly === name);

/** Converts the options to the format that `parseArgs` in `node:util` expects. */
export const readable = (options: CommandOptions): ParseArgsOptionsConfig =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, { value, formerly }]) => {
      const type = value === undefined ? ('boolean' as const) : ('string' as const);
      const short = SHORT[name];
      return [[name, short === undefined ? { type } : { type, short }], ...(formerly === undefined ? [] : [[formerly, { type }] as const])];
    }),
  );

export async function parseCommand(program: string, command: Named, rest: readonly string[]): Promise<Pick<BareInvocation, 'values' | 'positionals'>> {
  const options = optionsOf(command);
  const { tokens } = parseArgs({ args: [...rest], options: readable(options), allowPositionals: true, strict: false, tokens: true });
  const values: Record<string, string | boolean> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const [name, known] = optionNamed(options, token.name) ?? (await unknownOption(program, command, token.rawName, options));
    if (known.value === undefined) {
      if (token.value !== undefined) throw new UsageError(`\`--${name}\` takes no value`);
      values[name] = true;
      continue;
    }
    const isOption = token.inlineValue === false && /^-./.test(token.value ?? '');
    if (token.value === undefined || isOption) {
      const dash = isOption ? `. For a value that begins with a dash, write --${name}=${token.value}` : '';
      throw new UsageError(`\`--${name}\` needs a value: --${name} ${known.value}${dash}`);
    }
    if (values[name] !== undefined) throw new UsageError(`\`--${name}\` was given twice. Give it once`);
    values[name] = token.value;
  }
  const wanted = command.arguments ?? [];
  const example = `. Example: ${program} ${command.examples[0]}`;
  const missing = wanted.find((each, index) => !each.optional && positionals.length <= index);
  if (missing) throw new UsageError(`\`${missing.name}\` is missing${example}`);
  if (positionals.length > wanted.length) throw new UsageError(`Unexpected argument ${JSON.stringify(positionals[wanted.length])}`);
  const needed = Object.entries(options).find(([name, { required }]) => required && values[name] === undefined);
  if (needed) throw new UsageError(`\`--${needed[0]}\` is missing${example}`);
  return { values, positionals };
}

async function unknownOption(program: string, command: Named, typed: string, options: CommandOptions): Promise<never> {
  if (typed === '--workspace') throw new UsageError(`\`${program} ${command.name}\` takes no \`--workspace\`, because it works on this machine`);
  const { nearest } = await import('../../wire/nearest.ts');
  const meant = nearest(
    typed,
    Object.keys(options).map((name) => `--${name}`),
  );
  throw new UsageError(`Unknown option \`${typed}\` of \`${program} ${command.name}\`.${meant === undefined ? '' : ` Did you mean \`${meant}\`?`}`);
}
