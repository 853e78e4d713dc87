import { columnsOf } from './columns.ts';
import type { BareCommand, BareInvocation, CommandArgument, CommandGroup, CommandOption, CommandOptions } from './command.ts';
import { GLOBAL, IN_WORKSPACE, type Target } from './parse.ts';
import type { CliProgram } from './program.ts';

const WIDTH = 80;

type Named = BareCommand<never>;
type Shown = Pick<CliProgram<BareInvocation>, 'name' | 'exits' | 'footer'> & { readonly groups: readonly Omit<CommandGroup<never>, 'load'>[] };

/** Returns the help of the command that was named. Without a command, returns the help of the group or of the whole program. */
export function helpFor<I extends BareInvocation>(program: CliProgram<I>, { group, commands, command }: Target<I>): string {
  if (command) return commandHelp(program.name, command);
  return group && commands ? groupHelp(program.name, group, commands) : programHelp(program);
}

function programHelp({ name, groups, exits, footer }: Shown): string {
  const listed = groups.filter(({ section }) => section !== undefined);
  const width = Math.max(...listed.map((group) => group.name.length));
  // Map.groupBy is not available, because covibe-local also runs on Node 20.
  const sections = [...new Set(listed.map(({ section }) => section))].map((section) =>
    [section, ...listed.filter((group) => group.section === section).map((group) => entry(group.name.padEnd(width), group.summary))].join('\n'),
  );
  const codes = Object.entries(exits).map(([code, meaning]) => `${code} ${meaning}`);
  return [`Usage: ${name} COMMAND [OPTIONS]. For details: ${name} COMMAND --help`, ...sections, [footer, `Exit codes: ${codes.join(', ')}`].join('\n')].join(
    '\n\n',
  );
}

function groupHelp(program: string, { name, summary }: Pick<CommandGroup<never>, 'name' | 'summary'>, commands: readonly Named[]): string {
  const listed = commands.filter(({ hidden }) => !hidden).map((command) => ({ word: command.name.slice(name.length + 1), summary: command.summary }));
  const width = Math.max(...listed.map(({ word }) => word.length));
  return [
    `Usage: ${program} ${name} COMMAND`,
    summary,
    ['Commands', ...listed.map((command) => entry(command.word.padEnd(width), command.summary))].join('\n'),
    `Run \`${program} ${name} COMMAND --help\` for the arguments, options and examples of a command.`,
  ].join('\n\n');
}

function commandHelp(program: string, command: Named): string {
  const { summary, description, options = {}, examples } = command;
  return [
    usageLine(program, command),
    [summary, ...(description === undefined ? [] : [wrapped(description, WIDTH)])].join('\n\n'),
    described(
      'Arguments',
      (command.arguments ?? []).map((argument) => [argument.name, argumentText(argument)] as const),
    ),
    described('Options', optionRows(options)),
    described('Global options', optionRows({ ...GLOBAL, ...(command.local ? {} : IN_WORKSPACE) })),
    [examples.length === 1 ? 'Example' : 'Examples', ...examples.map((example) => `  ${program} ${example}`)].join('\n'),
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** Returns the first line of a command's help. It contains the required options. `[OPTIONS]` stands for the other options. */
export function usageLine(program: string, command: Named): string {
  const all = Object.entries(command.options ?? {});
  const needed = all.filter(([, { required }]) => required).map(([name, { value }]) => `--${name} ${value}`);
  const words = (command.arguments ?? []).map(({ name, optional }) => (optional ? `[${name}]` : name));
  return ['Usage:', program, command.name, ...words, ...needed, ...(all.length > needed.length ? ['[OPTIONS]'] : [])].join(' ');
}

export const optionLabel = (name: string, { value }: CommandOption): string =>
  `${name === 'help' ? '-h, ' : ''}--${name}${value === undefined ? '' : ` ${value}`}`;

const optionRows = (options: CommandOptions) => Object.entries(options).map(([name, each]) => [optionLabel(name, each), optionText(each)] as const);

export const argumentText = ({ description, choices, optional }: CommandArgument): string =>
  [description, choicesText(choices), optional ? 'Optional.' : ''].filter(Boolean).join(' ');

export const optionText = (each: CommandOption): string =>
  [each.description, choicesText(each.choices), each.required ? 'Required.' : '', each.default === undefined ? '' : `Default: ${each.default}.`]
    .filter(Boolean)
    .join(' ');

const choicesText = (choices: readonly string[] = []): string => (choices.length === 0 ? '' : `One of: ${choices.join(', ')}.`);

const entry = (name: string, summary: string): string => `  ${name}  ${summary}`;

function described(title: string, rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return '';
  const width = Math.min(28, Math.max(...rows.map(([label]) => label.length)));
  const lines = rows.map(([label, text]) => {
    const body = wrapped(text, WIDTH - width - 4).replaceAll('\n', `\n${' '.repeat(width + 4)}`);
    return label.length > width ? `  ${label}\n${' '.repeat(width + 4)}${body}` : entry(label.padEnd(width), body);
  });
  return [title, ...lines].join('\n');
}

/** Breaks lines between words. Does not break a word that is longer than a line. */
function wrapped(text: string, width: number): string {
  return text
    .split('\n')
    .map((paragraph) => {
      const lines = [''];
      for (const word of paragraph.split(' ')) {
        const line = lines.at(-1) ?? '';
        if (line === '') lines[lines.length - 1] = word;
        else if (columnsOf(line) + 1 + columnsOf(word) <= width) lines[lines.length - 1] = `${line} ${word}`;
        else lines.push(word);
      }
      return lines.join('\n');
    })
    .join('\n');
}
