import { join } from 'node:path';
import { gemini as protocol } from '../models/gemini.ts';
import { ask, PROMPT, type Program } from './program.ts';

export const gemini: Program = {
  name: 'gemini',
  bin: 'gemini',
  protocol,
  settle: (workplace) => {
    workplace.write(join(workplace.home, '.gemini/settings.json'), { security: { auth: { selectedType: 'gemini-api-key' } } });
    workplace.write(join(workplace.home, '.gemini/trustedFolders.json'), { [workplace.repo.path]: 'TRUST_FOLDER' });
  },
  quiet: {},
  start: (_workplace, model) => ({
    // The model is given, because otherwise Gemini CLI would ask another model to choose one.
    args: ['-o', 'json', '--approval-mode', 'yolo', '-m', 'gemini-2.5-pro', '-p', PROMPT],
    env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: model.url },
  }),
  ours: (tool, args, server = 'covibe') => ({ tool: `mcp_${server}_${tool}`, with: args }),
  edit: (workplace, path, from, to) => [
    { tool: 'replace', with: { file_path: join(workplace.repo.path, path), old_string: from, new_string: to, instruction: 'Change it.' } },
  ],
  connections: async (workplace) =>
    [...(await ask(gemini, workplace, ['mcp', 'list'])).output.matchAll(/✓ (\S+): .* - Connected/g)].map(([, name]) => name ?? ''),
};
