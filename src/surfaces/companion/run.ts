import { VERSION } from '../../version.ts';
import { runProgram, type Terminal } from '../cli/program.ts';
import { GROUPS } from './subcommands/index.ts';

/** The exit codes of `covibe-local`, with their meanings. */
export const EXITS = { 0: 'done', 1: 'refused or failed', 2: 'called wrongly', 3: 'denied by the guard' } as const;

const FOOTER = 'Global options: --json, --no-color, -h, --help, -v, --version';

export async function runCompanion(argv: readonly string[], env: NodeJS.ProcessEnv, terminal: Terminal = process): Promise<0 | 1 | 2 | 3> {
  const program = { name: 'covibe-local', version: VERSION, groups: GROUPS, exits: EXITS, footer: FOOTER };
  const exit = await runProgram(program, argv, env, () => ({}), terminal);
  // Agent programs treat exit code 2 as a denial. A hook that was called with wrong arguments must not stop the agent.
  return argv.find((word) => !word.startsWith('-')) === 'hook' && exit === 2 ? 1 : exit;
}
