import type { CompanionCommand } from '../command.ts';
import { doctorCommands } from './doctor.ts';
import { guardCommands } from './guard.ts';
import { hookCommand } from './hook.ts';
import { setupCommand } from './setup.ts';
import { watchCommands } from './watch.ts';

/** As the help lists them. */
export const COMMANDS: readonly CompanionCommand[] = [setupCommand, ...doctorCommands, ...watchCommands, ...guardCommands, hookCommand];
