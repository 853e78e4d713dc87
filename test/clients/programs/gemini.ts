import { join } from 'node:path';
import { gemini as protocol } from '../models/gemini.ts';
import { ask, PROMPT, type Program } from './program.ts';

export const gemini: Program = {
  name: 'gemini',
  bin: 'gemini',
  protocol,
  settle: (house) => {
    house.write(join(house.home, '.gemini/settings.json'), { security: { auth: { selectedType: 'gemini-api-key' } } });
    house.write(join(house.home, '.gemini/trustedFolders.json'), { [house.repo.path]: 'TRUST_FOLDER' });
  },
  quiet: {},
  start: (_house, model) => ({
    // With the name of a model it does not ask another one which to take.
    args: ['-o', 'json', '--approval-mode', 'yolo', '-m', 'gemini-2.5-pro', '-p', PROMPT],
    env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: model.url },
  }),
  ours: (tool, args, server = 'covibe') => ({ tool: `mcp_${server}_${tool}`, with: args }),
  edit: (house, path, from, to) => [
    { tool: 'replace', with: { file_path: join(house.repo.path, path), old_string: from, new_string: to, instruction: 'Change it.' } },
  ],
  connections: async (house) => [...(await ask(gemini, house, ['mcp', 'list'])).output.matchAll(/✓ (\S+): .* - Connected/g)].map(([, name]) => name ?? ''),
};
