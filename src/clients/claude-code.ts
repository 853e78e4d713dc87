import { join } from 'node:path';
import { userHome } from '../wire/covibe-home.ts';
import type { HookEvent } from '../wire/hook-question.ts';
import type { AgentClient, ClientConnection, HookClient } from './client.ts';
import { bearer, bridgeEnvironment, hookEntries, inFolder, serverEntry, started, TOKEN, workingFolder } from './config-entries.ts';
import { named, reduced, rendered, shell } from './hook-payload.ts';

const connection: ClientConnection = {
  http: (url, token) => ({
    where: 'Claude Code: run in your repository',
    text: `claude mcp add --transport http covenant ${url} --header "Authorization: Bearer ${token}"`,
  }),
  file: 'Claude Code: .mcp.json in your repository',
  section: 'mcpServers',
  stdio: (bridge) => ({
    type: 'stdio',
    ...started(inFolder(bridge)),
    ...workingFolder(bridge),
    env: bridgeEnvironment('claude-code', bridge, `\${${TOKEN}:-}`),
  }),
};

const FILE_TOOLS = {
  Write: named('file_path'),
  Edit: named('file_path'),
  MultiEdit: named('file_path'),
  NotebookEdit: named('notebook_path'),
  Bash: shell('command'),
};

/** A compaction is told as a session's start with `source: "compact"`. */
const hooks: HookClient = {
  events: {
    'session-start': 'SessionStart',
    'session-end': 'SessionEnd',
    prompt: 'UserPromptSubmit',
    'before-tool': 'PreToolUse',
    'after-tool': 'PostToolUse',
    stop: 'Stop',
  },
  contextEvents: ['session-start', 'prompt', 'before-tool', 'after-tool'],
  reduce: (event, native) => reduced(event, native, FILE_TOOLS),
  render: (event, answer) => rendered(hooks, event, answer),
};

/** Those that the server can answer by itself. The others need the state of the working tree, or count what was used. */
const OVER_HTTP: readonly HookEvent[] = ['before-tool', 'after-tool', 'prompt'];

const httpHook = (origin: string, event: HookEvent, timeout: number) => ({
  type: 'http',
  url: `${origin}/api/hooks/claude-code/${event}`,
  timeout,
  headers: { Authorization: 'Bearer $COVIBE_MCP_TOKEN' },
  allowedEnvVars: ['COVIBE_MCP_TOKEN'],
});

const SERVER_ARGS = ['--mcp-config={{mcp_config}}/mcp.json', '--allowedTools=mcp__covenant'];

export const claudeCode: AgentClient = {
  name: 'claude-code',
  programs: ['claude'],
  folders: (env) => [env.CLAUDE_CONFIG_DIR || join(userHome(env), '.claude')],
  folderVariables: ['CLAUDE_CONFIG_DIR'],
  connection,
  hooks,
  files: (setting) => [
    {
      path: join(setting.root, '.mcp.json'),
      scope: 'repository',
      entries: [serverEntry(connection, setting)],
      note: 'Claude Code asks once whether it may use the server of .mcp.json.',
    },
    {
      path: join(setting.root, '.claude/settings.json'),
      scope: 'repository',
      entries: hookEntries(
        {
          client: 'claude-code',
          events: hooks.events,
          top: '"$CLAUDE_PROJECT_DIR"',
          writing: 'Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*',
          element: ({ event, matcher, command, timeout }) => ({
            ...(matcher !== undefined && { matcher }),
            hooks: [setting.hooks === 'http' && OVER_HTTP.includes(event) ? httpHook(setting.origin, event, timeout) : { type: 'command', command, timeout }],
          }),
        },
        setting,
      ),
    },
  ],
  commandMarks: { set: ['CLAUDECODE'], run: 'CLAUDE_CODE_SESSION_ID' },
  usageSources: ['claude', 'claude-code'],
  instance: {
    agent: 'claude',
    runtime: 'claude_code',
    launcher: {
      command: 'claude',
      args: [...SERVER_ARGS, '--', '{{prompt}}'],
      headless_args: ['--print', ...SERVER_ARGS, '--', '{{prompt}}'],
      env: {},
      pass_env: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CONFIG_DIR'],
      prompt: 'argument',
    },
    serverFile: {
      name: 'mcp.json',
      content: (url) => ({ mcpServers: { covenant: { type: 'http', url, headers: bearer(`\${${TOKEN}}`) } } }),
    },
  },
};
