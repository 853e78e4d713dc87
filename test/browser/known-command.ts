import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { commandsOf, GROUPS } from '../../src/surfaces/cli/groups.ts';
import { optionsOf, readable } from '../../src/surfaces/cli/parse.ts';

const COMMANDS = (await commandsOf(GROUPS)).flatMap(({ commands }) => commands);

/** Returns what is wrong with a command on a page. Undefined if the shell would run an existing command with valid options. */
export function faultOf(text: string): string | undefined {
  try {
    const [program, ...words] = execFileSync('sh', ['-c', `set -- ${text}\nprintf '%s\\0' "$@"`], { encoding: 'utf8' })
      .split('\0')
      .slice(0, -1);
    const typed = words.slice(0, 2).join(' ');
    const command = COMMANDS.find(({ name, formerly }) => name === typed || formerly?.includes(typed)) ?? COMMANDS.find(({ name }) => name === words[0]);
    if (program !== 'covenant' || !command) return `no such command: ${text}`;
    const args = words.slice(command.name.split(' ').length);
    const { positionals } = parseArgs({ args, options: readable(optionsOf(command)), allowPositionals: true });
    const wanted = command.arguments ?? [];
    const needed = wanted.filter(({ optional }) => !optional).length;
    return positionals.length < needed || positionals.length > wanted.length ? `${positionals.length} words after ${command.name}: ${text}` : undefined;
  } catch (error) {
    return `${(error as Error).message}: ${text}`;
  }
}
