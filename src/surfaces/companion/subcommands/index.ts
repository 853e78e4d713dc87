import { BASE_URL, type CompanionCommand } from '../command.ts';
import { guardCommands } from './guard.ts';
import { hookCommand } from './hook.ts';
import { watchCommands } from './watch.ts';

const doctor: CompanionCommand = {
  name: 'doctor',
  summary: 'Check what setup has put in place here, and say how to mend what is wrong. Changes nothing.',
  options: BASE_URL,
  local: true,
  run: async (invocation) => await (await import('../doctor.ts')).reportSetup(invocation),
};

const doctorCommands: readonly CompanionCommand[] = [doctor, { ...doctor, name: 'status', summary: 'The same as doctor.' }];

const setupCommand: CompanionCommand = {
  name: 'setup',
  summary: 'Connect the agents of this repository to the server: tokens, configuration, hooks and the watch service. --remove undoes it.',
  options: {
    ...BASE_URL,
    agents: { type: 'string' },
    hooks: { type: 'string' },
    'no-service': { type: 'boolean' },
    'update-key': { type: 'string' },
    remove: { type: 'boolean' },
  },
  local: true,
  run: async (invocation) => await (await import('../setup/setup.ts')).setUp(invocation),
};

/** As the help lists them. */
export const COMMANDS: readonly CompanionCommand[] = [setupCommand, ...doctorCommands, ...watchCommands, ...guardCommands, hookCommand];
