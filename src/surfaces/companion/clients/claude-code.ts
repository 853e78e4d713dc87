import { join } from 'node:path';
import { bridgeEntry } from '../../../features/core/devices/connections.ts';
import { userHome } from '../../../wire/covibe-home.ts';
import type { HookEvent } from '../../../wire/hook-question.ts';
import type { ClientSetup } from './client.ts';
import { hookEntries } from './hooks.ts';

/** Those that the server can answer by itself. The others need the state of the working tree, or count what was used. */
const OVER_HTTP: readonly HookEvent[] = ['before-tool', 'after-tool', 'prompt'];

export const claudeCode: ClientSetup = {
  name: 'claude-code',
  programs: ['claude'],
  folders: (env) => [env.CLAUDE_CONFIG_DIR || join(userHome(env), '.claude')],
  files: (setting) => [
    {
      path: join(setting.root, '.mcp.json'),
      scope: 'repository',
      entries: [{ kind: 'member', what: 'server entry', ...bridgeEntry('claude-code', { baseUrl: setting.origin, command: setting.programs.bridge }) }],
      note: 'Claude Code asks once whether it may use the server of .mcp.json.',
    },
    {
      path: join(setting.root, '.claude/settings.json'),
      scope: 'repository',
      entries: hookEntries(
        {
          client: 'claude-code',
          top: '"$CLAUDE_PROJECT_DIR"',
          writing: 'Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*',
          element: ({ event, matcher, command, timeout }) => ({
            ...(matcher !== undefined && { matcher }),
            hooks: [setting.hooks === 'http' && OVER_HTTP.includes(event) ? overHttp(setting.origin, event, timeout) : { type: 'command', command, timeout }],
          }),
        },
        setting,
      ),
    },
  ],
};

const overHttp = (origin: string, event: HookEvent, timeout: number) => ({
  type: 'http',
  url: `${origin}/api/hooks/claude-code/${event}`,
  timeout,
  headers: { Authorization: 'Bearer $COVIBE_MCP_TOKEN' },
  allowedEnvVars: ['COVIBE_MCP_TOKEN'],
});
