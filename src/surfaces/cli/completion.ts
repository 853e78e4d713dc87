import { type BareCommand, type BareInvocation, type CommandGroup, type CommandResult, UsageError } from './command.ts';
import { GLOBAL, IN_WORKSPACE, optionsOf } from './parse.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** The command that prints the completion script of a program. The script is static, so it starts no process while a person types. */
export function completionCommand(program: string, groups: readonly CommandGroup<never>[]): BareCommand<BareInvocation> {
  return {
    name: 'completion',
    local: true,
    summary: 'Print shell completion for bash, zsh or fish.',
    description: `Load the output in the start file of your shell:\n  bash  source <(${program} completion bash)\n  zsh   source <(${program} completion zsh)   after compinit\n  fish  ${program} completion fish | source`,
    arguments: [{ name: 'SHELL', description: 'The shell to complete in.', choices: SHELLS }],
    examples: ['completion bash', 'completion fish > ~/.config/fish/completions/PROGRAM.fish'.replace('PROGRAM', program)],
    async run({ positionals }): Promise<CommandResult> {
      const shell = SHELLS.find((known) => known === positionals[0]);
      if (!shell) throw new UsageError(`\`SHELL\` must be one of ${SHELLS.join(', ')}, for example: ${program} completion bash`);
      const script = SCRIPTS[shell](program, await knownWords(groups));
      return { json: { kind: 'completion', shell, script }, text: script, verbatim: true };
    },
  };
}

/** The words that can follow `after` on a command line. If `after` is empty, these are the words that can follow the name of the program. */
interface Place {
  /** The words before this place, such as `workflow` or `workflow list`. */
  readonly after: string;
  readonly words: readonly (readonly [word: string, summary: string])[];
  readonly options: readonly (readonly [name: string, description: string, value: string | undefined, choices: readonly string[]])[];
}

async function knownWords(groups: readonly CommandGroup<never>[]): Promise<Place[]> {
  const listed = groups.filter(({ section }) => section !== undefined);
  const options = (all: ReturnType<typeof optionsOf>): Place['options'] =>
    Object.entries(all).map(([name, { description, value, choices = [] }]) => [name, description, value, choices]);
  const places: Place[] = [
    {
      after: '',
      words: [...listed.map(({ name, summary }) => [name, summary] as const), ['help', 'Show help.']],
      options: options({ ...GLOBAL, ...IN_WORKSPACE }),
    },
  ];
  for (const group of listed) {
    const commands = (await group.load()).filter(({ hidden }) => !hidden);
    const isGroup = commands.some(({ name }) => name !== group.name);
    if (isGroup) {
      const words = commands.map(({ name, summary }) => [name.slice(group.name.length + 1), summary] as const);
      places.push({ after: group.name, words, options: options(GLOBAL) });
    }
    for (const command of commands) {
      const words = (command.arguments ?? []).flatMap(({ choices = [], description }) => choices.map((choice) => [choice, description] as const));
      places.push({ after: command.name, words, options: options(optionsOf(command)) });
    }
  }
  return places;
}

/** Returns the script for bash and zsh. The script finds the place from the first two words that are neither options nor values of options. */
const bashLike = (program: string, places: readonly Place[]): string => {
  const name = program.replaceAll('-', '_');
  const valued = [...new Set(places.flatMap(({ options }) => options.flatMap(([option, , value]) => (value === undefined ? [] : [`--${option}`]))))];
  const words = places.map(({ after, words: all, options }) => {
    const offered = [...all.map(([word]) => word), ...options.map(([option]) => `--${option}`)];
    return `    '${after}') words='${offered.join(' ')}' ;;`;
  });
  const choices = places.flatMap(({ after, options }) =>
    options.flatMap(([option, , , values]) => (values.length === 0 ? [] : [`    '${after} --${option}') words='${values.join(' ')}' ;;`])),
  );
  const groups = places.filter(
    ({ after, words: all }) => after !== '' && !after.includes(' ') && places.some((other) => other.after.startsWith(`${after} `)) && all.length > 0,
  );
  return `_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" place='' words='' skip='' index word
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if [ -n "$skip" ]; then skip=''; continue; fi
    case "$word" in
      ${valued.join('|')}) skip=1 ;;
      -*|help) ;;
      *)
        case "$place" in
          '') place="$word" ;;
          ${groups.map(({ after }) => after).join('|')}) place="$place $word" ;;
        esac
        ;;
    esac
  done
  case "$place $previous" in
${choices.join('\n')}
    *) if [ -n "$skip" ]; then return 0; fi ;;
  esac
  if [ -z "$words" ]; then case "$place" in
${words.join('\n')}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${program}
`;
};

const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fish(program: string, places: readonly Place[]): string {
  const lines = places.flatMap(({ after, words, options }) => {
    const [group = '', command] = after.split(' ');
    const inside = places.flatMap((place) => (command === undefined && place.after.startsWith(`${group} `) ? [place.after.slice(group.length + 1)] : []));
    // Excludes command lines that begin with another group, because `covenant cycle status` must not be completed like `covenant status`.
    const owners = places.flatMap(({ after: other }) => (command === undefined && other.endsWith(` ${group}`) ? [String(other.split(' ')[0])] : []));
    const seen =
      group === '' ? ['__fish_use_subcommand'] : [group, ...(command === undefined ? [] : [command])].map((word) => `__fish_seen_subcommand_from ${word}`);
    const unseen = group === '' ? [] : [inside, owners].flatMap((words) => (words.length === 0 ? [] : [`not __fish_seen_subcommand_from ${words.join(' ')}`]));
    const when = `complete -c ${program} -n ${fishQuoted([...seen, ...unseen].join('; and '))}`;
    return [
      ...words.map(([word, summary]) => `${when} -f -a ${fishQuoted(word)} -d ${fishQuoted(summary)}`),
      ...options.map(([name, description, value, choices]) => {
        const takes = value === undefined ? '' : choices.length > 0 ? ` -x -a ${fishQuoted(choices.join(' '))}` : ' -r';
        return `${when} -l ${name}${takes} -d ${fishQuoted(description)}`;
      }),
    ];
  });
  return `${lines.join('\n')}\n`;
}

const SCRIPTS: Readonly<Record<Shell, (program: string, places: readonly Place[]) => string>> = {
  bash: bashLike,
  zsh: (program, places) => `autoload -U +X bashcompinit && bashcompinit\n${bashLike(program, places)}`,
  fish,
};
