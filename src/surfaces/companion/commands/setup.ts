import { BASE_URL, type CompanionCommand } from '../command.ts';

export const setupCommand: CompanionCommand = {
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
