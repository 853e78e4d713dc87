import { VERSION } from '../../version.ts';
import { runProgram } from '../cli/program.ts';
import type { CompanionCommand } from './command.ts';

/** `covibe-local`. Exit code: 0 done, 1 refused or failed, 2 called wrongly, 3 denied by the guard. */
export async function runCompanion(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<0 | 1 | 2 | 3> {
  const footer = 'Every command takes --json and --help. Without --base-url, COVIBE_BASE_URL says where the server is.';
  const isHook = argv[0] === 'hook';
  const commands = isHook ? await hookAlone() : (await import('./subcommands/index.ts')).COMMANDS;
  const exit = await runProgram({ name: 'covibe-local', version: VERSION, commands, footer }, argv, env, () => ({}));
  // To an agent's program 2 means "no": a hook that was called wrongly must not hold it up.
  return isHook && exit === 2 ? 1 : exit;
}

/** It runs before every call of an agent's tools, and the agent waits for it: nothing else is loaded. */
const hookAlone = async (): Promise<readonly CompanionCommand[]> => [(await import('./subcommands/hook.ts')).hookCommand];
