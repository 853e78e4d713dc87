import { join } from 'node:path';
import { anthropic } from '../models/anthropic.ts';
import { ask, PROMPT, type Program } from './program.ts';

export const claudeCode: Program = {
  name: 'claude-code',
  bin: 'claude',
  protocol: anthropic,
  // Claude Code asks the user once about each server in a repository's `.mcp.json`. This setting approves all of them.
  settle: (workplace) => workplace.write(join(workplace.home, '.claude/settings.json'), { enableAllProjectMcpServers: true }),
  quiet: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  asksNobodyElse: true,
  start: (_workplace, model) => ({
    args: [
      '-p',
      PROMPT,
      '--output-format',
      'json',
      '--autocompact',
      '100k',
      '--permission-mode',
      'acceptEdits',
      '--allowedTools',
      'mcp__covibe,mcp__covenant,Read,Write,Edit,Bash',
    ],
    env: {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'none',
      // Without this setting, the model sees tools of MCP servers only if it searches for them.
      ENABLE_TOOL_SEARCH: 'false',
    },
  }),
  ours: (tool, args, server = 'covibe') => ({ tool: `mcp__${server}__${tool}`, with: args }),
  edit: (workplace, path, from, to) => {
    const file_path = join(workplace.repo.path, path);
    return [
      { tool: 'Read', with: { file_path } },
      { tool: 'Edit', with: { file_path, old_string: from, new_string: to } },
    ];
  },
  connections: async (workplace) =>
    [...(await ask(claudeCode, workplace, ['mcp', 'list'])).stdout.matchAll(/^(\S+): .*✔ Connected/gm)].map(([, name]) => name ?? ''),
};
