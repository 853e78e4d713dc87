import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { COMMANDS } from '../../src/surfaces/cli/run.ts';

/** The error in a command that a page shows; undefined if the shell would run an existing command with valid options. */
export function faultOf(text: string): string | undefined {
  try {
    const [program, ...words] = execFileSync('sh', ['-c', `set -- ${text}\nprintf '%s\\0' "$@"`], { encoding: 'utf8' })
      .split('\0')
      .slice(0, -1);
    const command = COMMANDS.find(({ name }) => name === words.slice(0, 2).join(' ')) ?? COMMANDS.find(({ name }) => name === words[0]);
    if (program !== 'covenant' || !command) return `no such command: ${text}`;
    const args = words.slice(command.name.split(' ').length);
    const { positionals } = parseArgs({ args, options: { ...command.options, workspace: { type: 'string' } }, allowPositionals: true });
    const wanted = command.positionals ?? [];
    const needed = wanted.filter((name) => !name.startsWith('[')).length;
    return positionals.length < needed || positionals.length > wanted.length ? `${positionals.length} words after ${command.name}: ${text}` : undefined;
  } catch (error) {
    return `${(error as Error).message}: ${text}`;
  }
}
