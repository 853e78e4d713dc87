import { join } from 'node:path';
import { anthropic } from '../models/anthropic.ts';
import { ask, PROMPT, type Program } from './program.ts';

export const opencode: Program = {
  name: 'opencode',
  bin: 'opencode',
  protocol: anthropic,
  settle: () => {},
  quiet: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  start: (workplace, model) => {
    const scripted = {
      npm: '@ai-sdk/anthropic',
      name: 'Scripted',
      options: { baseURL: `${model.url}/v1`, apiKey: 'none' },
      models: { scripted: { name: 'Scripted', tool_call: true, limit: { context: 200_000, output: 8_000 } } },
    };
    workplace.write(join(workplace.home, '.config/opencode/opencode.json'), {
      provider: { scripted },
      model: 'scripted/scripted',
      small_model: 'scripted/scripted',
    });
    return { args: ['run', '--format', 'json', '--auto', PROMPT], env: {} };
  },
  ours: (tool, args, server = 'covibe') => ({ tool: `${server}_${tool}`, with: args }),
  edit: (workplace, path, from, to) => {
    const filePath = join(workplace.repo.path, path);
    return [
      { tool: 'read', with: { filePath } },
      { tool: 'edit', with: { filePath, oldString: from, newString: to } },
    ];
  },
  connections: async (workplace) =>
    [...(await ask(opencode, workplace, ['mcp', 'list'])).output.matchAll(/✓ (\S+) .*connected/g)].map(([, name]) => name ?? ''),
};
