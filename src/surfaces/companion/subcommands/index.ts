import type { BareInvocation, CommandGroup } from '../../cli/command.ts';

/**
 * The command groups, in the order in which the help lists them. Agents wait for `hook` at every tool call, so only the group of the called command is
 * loaded. This file must therefore not import a command statically.
 */
export const GROUPS: readonly CommandGroup<BareInvocation>[] = [
  {
    section: 'Set up',
    name: 'setup',
    summary: 'Connect the agents of this repository to the server.',
    load: async () => [(await import('./setup.ts')).setupCommand],
  },
  {
    section: 'Set up',
    name: 'doctor',
    summary: 'Check the setup and say how to fix problems.',
    load: async () => [(await import('./setup.ts')).doctorCommand],
  },
  { section: 'Set up', name: 'status', summary: 'Same as doctor.', load: async () => [(await import('./setup.ts')).statusCommand] },
  {
    section: 'Work',
    name: 'guard',
    summary: "Check commits and pushes against other agents' claims.",
    load: async () => (await import('./guard.ts')).guardCommands,
  },
  {
    section: 'Work',
    name: 'watch',
    summary: "Report this machine's model usage until you stop the command.",
    load: async () => [(await import('./watch.ts')).watchCommand],
  },
  {
    section: 'Work',
    name: 'telemetry',
    summary: 'Send the usage files of an inbox to the server.',
    load: async () => [(await import('./watch.ts')).telemetryCommand],
  },
  {
    section: 'Help',
    name: 'completion',
    summary: 'Print shell completion for bash, zsh or fish.',
    load: async () => [(await import('../../cli/completion.ts')).completionCommand('covibe-local', GROUPS)],
  },
  { name: 'hook', summary: 'Started by agent programs.', load: async () => [(await import('./hook.ts')).hookCommand] },
];
