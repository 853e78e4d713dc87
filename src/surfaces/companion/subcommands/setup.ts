import { CLIENT_NAMES } from '../../../clients/client.ts';
import { working } from '../../cli/progress.ts';
import { BASE_URL, type CompanionCommand } from '../command.ts';

export const setupCommand: CompanionCommand = {
  name: 'setup',
  summary: 'Connect the agents of this repository to the server.',
  description:
    'Gets a token for each agent, writes their configuration and hooks in this repository, and installs the watch service. Run it again to change a setting. `--remove` undoes it.',
  options: {
    ...BASE_URL,
    agents: { value: 'NAMES', description: `The agents to set up, separated by commas: ${CLIENT_NAMES.join(', ')}.`, default: 'all that are installed here' },
    hooks: {
      value: 'KIND',
      choices: ['http', 'command'],
      description: 'How the hooks reach the server: over HTTP or with a command. `http` needs COVIBE_MCP_TOKEN in the environment.',
      default: 'http for a server on this machine with COVIBE_MCP_TOKEN set, otherwise command',
    },
    'no-service': { description: 'Do not install the watch service.' },
    'update-key': { value: 'FINGERPRINT', description: 'Accept only updates of covibe-local that are signed with the key that has this fingerprint.' },
    remove: { description: 'Remove everything that setup wrote in this repository.' },
  },
  examples: ['setup --base-url http://covenant.example:3001', 'setup --agents claude-code,codex --no-service', 'setup --remove'],
  local: true,
  run: async (invocation) => {
    const { setUp } = await import('../setup/setup.ts');
    return await working(invocation, 'Setting up', () => setUp(invocation));
  },
};

export const doctorCommand: CompanionCommand = {
  name: 'doctor',
  summary: 'Check the setup and say how to fix problems.',
  description: 'Changes nothing.',
  options: BASE_URL,
  examples: ['doctor'],
  local: true,
  run: async (invocation) => {
    const { reportSetup } = await import('../doctor.ts');
    return await working(invocation, 'Checking the setup', () => reportSetup(invocation));
  },
};

export const statusCommand: CompanionCommand = { ...doctorCommand, name: 'status', summary: 'Same as doctor.', examples: ['status'] };
