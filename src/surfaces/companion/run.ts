import { VERSION } from '../../version.ts';
import { runProgram } from '../cli/program.ts';
import type { CompanionCommand } from './command.ts';

/** `covibe-local`. Exit code: 0 done, 1 refused or failed, 2 called wrongly, 3 denied by the guard. */
export async function runCompanion(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<0 | 1 | 2 | 3> {
  const footer = 'Every command takes --json and --help. The default for --base-url is COVIBE_BASE_URL.';
  const isHook = argv[0] === 'hook';
  const commands = isHook ? await hookAlone() : (await import('./subcommands/index.ts')).COMMANDS;
  const exit = await runProgram({ name: 'covibe-local', version: VERSION, commands, footer }, argv, env, () => ({}));
  // To an agent's program, exit code 2 means "no". A hook that was called wrongly must not block the agent.
  return isHook && exit === 2 ? 1 : exit;
}

/** Runs before every tool call of an agent, which waits for it, so nothing else is loaded. */
const hookAlone = async (): Promise<readonly CompanionCommand[]> => [(await import('./subcommands/hook.ts')).hookCommand];
