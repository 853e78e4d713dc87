import { VERSION } from '../../version.ts';
import { runProgram } from '../cli/program.ts';
import { GROUPS } from './subcommands/index.ts';

/** The exit codes of `covibe-local`, with their meanings. */
export const EXITS = { 0: 'done', 1: 'refused or failed', 2: 'called wrongly', 3: 'denied by the guard' } as const;

const FOOTER = `Global options: --json, --no-color, -h, --help, -v, --version
Run \`covibe-local COMMAND --help\` for the options and examples of each.`;

/** Returns the exit code. */
export async function runCompanion(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<0 | 1 | 2 | 3> {
  const exit = await runProgram({ name: 'covibe-local', version: VERSION, groups: GROUPS, exits: EXITS, footer: FOOTER }, argv, env, () => ({}));
  // Agent programs read 2 as "no": a hook that was called wrongly must not stop the agent.
  return argv[0] === 'hook' && exit === 2 ? 1 : exit;
}
