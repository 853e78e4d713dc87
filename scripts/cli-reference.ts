/** Writes the text of docs/cli.md from the definitions of the commands. */
import { BRIDGE_ABOUT, BRIDGE_EXITS, BRIDGE_VARIABLES } from '../src/surfaces/cli/bridge-help.ts';
import type { BareCommand, CommandGroup, CommandOptions } from '../src/surfaces/cli/command.ts';
import { commandsOf, GROUPS } from '../src/surfaces/cli/groups.ts';
import { argumentText, optionLabel, optionText, usageLine } from '../src/surfaces/cli/help.ts';
import { GLOBAL, IN_WORKSPACE } from '../src/surfaces/cli/parse.ts';
import { EXITS } from '../src/surfaces/cli/run.ts';
import { EXITS as COMPANION_EXITS } from '../src/surfaces/companion/run.ts';
import { GROUPS as COMPANION } from '../src/surfaces/companion/subcommands/index.ts';

type Command = BareCommand<never>;
type Exits = Readonly<Record<number, string>>;

const anchor = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-');
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', '<br>');
const rowsOf = (rows: readonly (readonly [string, string])[]): string =>
  ['| | |', '|---|---|', ...rows.map(([name, text]) => `| \`${cell(name)}\` | ${cell(text)} |`)].join('\n');

const optionRows = (options: CommandOptions) => Object.entries(options).map(([name, each]) => [optionLabel(name, each), optionText(each)] as const);

function commandSection(program: string, command: Command): string {
  const argumentRows = (command.arguments ?? []).map((each) => [each.name, argumentText(each)] as const);
  const rows = [...argumentRows, ...optionRows(command.options ?? {})];
  return [
    `#### \`${program} ${command.name}\``,
    [command.summary, command.description ?? ''].filter(Boolean).join(' ').replaceAll(/\n +/g, '\n- '),
    `\`\`\`\n${usageLine(program, command).replace('Usage: ', '')}\n\`\`\``,
    ...(rows.length === 0 ? [] : [rowsOf(rows)]),
    `${command.examples.length === 1 ? 'Example' : 'Examples'}:\n\n\`\`\`bash\n${command.examples.map((example) => `${program} ${example}`).join('\n')}\n\`\`\``,
  ].join('\n\n');
}

const exitList = (exits: Exits): string =>
  `Exit codes: ${Object.entries(exits)
    .map(([code, meaning]) => `\`${code}\` ${meaning}`)
    .join(', ')}.`;

async function programSections(
  program: string,
  groups: readonly CommandGroup<never>[],
  exits: Exits,
  options: CommandOptions,
): Promise<{ contents: string; text: string }> {
  const listed = (await commandsOf(groups)).filter(({ group }) => group.section !== undefined);
  const sections = [...Map.groupBy(listed, ({ group }) => group.section ?? '')];
  const contents = [
    `- [${program}](#${anchor(program)})`,
    ...sections.map(([section, members]) => {
      const links = members.map(({ group }) => `[${group.name}](#${anchor(`${program} ${group.name}`)})`);
      return `  - ${section}: ${links.join(', ')}`;
    }),
  ].join('\n');
  const body = sections.flatMap(([, members]) =>
    members.flatMap(({ group, commands }) => {
      const shown = commands.filter(({ hidden }) => !hidden);
      const isGroup = shown[0]?.name !== group.name;
      const heads = isGroup ? [`### ${program} ${group.name}\n\n${group.summary}`] : [];
      const texts = shown.map((command) => commandSection(program, command));
      return isGroup ? [...heads, ...texts] : texts.map((each) => each.replace(/^#### `(.*)`/, '### $1'));
    }),
  );
  const text = [`## ${program}`, exitList(exits), 'Every command takes these options, before or after its name:', rowsOf(optionRows(options)), ...body].join(
    '\n\n',
  );
  return { contents, text };
}

export async function cliReference(): Promise<string> {
  const programs = [
    await programSections('covenant', GROUPS, EXITS, { ...GLOBAL, ...IN_WORKSPACE }),
    await programSections('covibe-local', COMPANION, COMPANION_EXITS, GLOBAL),
  ];
  const variables = BRIDGE_VARIABLES.map(
    ({ name, description, default: value }) => [name, `${description}${value === undefined ? '' : ` Default: ${value}.`}`] as const,
  );
  const bridge = [
    '## covibe-mcp',
    BRIDGE_ABOUT,
    exitList(BRIDGE_EXITS),
    'This program has no commands. Its settings are environment variables:',
    rowsOf(variables),
  ].join('\n\n');
  return `${[
    '<!-- Written by `npm run docs` from the definitions of the commands. Do not edit. -->\n# Command line',
    'Instead of a whole id, you can write only its last characters, if no other id ends with them: `4KQ2ZP` stands for `wf_01J…4KQ2ZP`. If the value of an option begins with a dash, write `--option=VALUE`. Everything after `--` is read as an argument, not as an option.\n\nCommands that work on the files of this machine, such as `covenant doctor`, do not accept `--workspace`.',
    [...programs.map(({ contents }) => contents), '- [covibe-mcp](#covibe-mcp)'].join('\n'),
    ...programs.map(({ text }) => text),
    bridge,
  ].join('\n\n')}\n`;
}
