import { join } from 'node:path';
import { userHome } from '../wire/covibe-home.ts';
import type { HookEvent } from '../wire/hook-question.ts';
import { stringOf } from '../wire/json.ts';
import type { AgentClient, ClientConnection } from './client.ts';
import { bearer, bridgeEnvironment, hookEntries, inFolder, serverEntry, startCommand, TOKEN, workingFolder } from './config-entries.ts';
import { fileArgument, hooksLikeClaude, shellArgument } from './hook-payload.ts';

const connection: ClientConnection = {
  http: (url, token) => ({
    where: 'Claude Code: run in your repository',
    text: `claude mcp add --transport http covenant ${url} --header "Authorization: Bearer ${token}"`,
  }),
  file: 'Claude Code: .mcp.json in your repository',
  section: 'mcpServers',
  format: 'json',
  stdio: (bridge) => ({
    type: 'stdio',
    ...startCommand(inFolder(bridge)),
    ...workingFolder(bridge),
    env: bridgeEnvironment('claude-code', bridge, `\${${TOKEN}:-}`),
  }),
};

const hooks = hooksLikeClaude({
  fileTools: {
    Write: fileArgument('file_path'),
    Edit: fileArgument('file_path'),
    MultiEdit: fileArgument('file_path'),
    NotebookEdit: fileArgument('notebook_path'),
    Bash: shellArgument('command'),
  },
  // The server can answer these events without the companion. At the other events, the companion reads the working tree or counts usage.
  overHttp: ['before-tool', 'after-tool', 'prompt'],
  transcript: ({ transcript_path }) => stringOf(transcript_path),
  // Cursor can be configured to run these hooks as well.
  isForeign: (native) => 'cursor_version' in native,
});

const httpHook = (origin: string, event: HookEvent, timeout: number) => ({
  type: 'http',
  url: `${origin}/api/hooks/claude-code/${event}`,
  timeout,
  headers: { Authorization: 'Bearer $COVIBE_MCP_TOKEN' },
  allowedEnvVars: ['COVIBE_MCP_TOKEN'],
});

const home = (env: NodeJS.ProcessEnv): string => env.CLAUDE_CONFIG_DIR || join(userHome(env), '.claude');

/** The folder with Claude Code's transcripts, one file for each run. */
export const transcriptsFolder = (env: NodeJS.ProcessEnv): string => join(home(env), 'projects');

const SERVER_ARGS = ['--mcp-config={{mcp_config}}/mcp.json', '--allowedTools=mcp__covenant'];

export const claudeCode: AgentClient = {
  name: 'claude-code',
  displayName: 'Claude Code',
  programs: ['claude'],
  folders: (env) => [home(env)],
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
        'claude-code',
        hooks,
        {
          top: '"$CLAUDE_PROJECT_DIR"',
          writing: 'Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*',
          hook: ({ event, command, timeout }) =>
            setting.hooks === 'http' && hooks.overHttp?.includes(event) ? httpHook(setting.origin, event, timeout) : { type: 'command', command, timeout },
        },
        setting,
      ),
    },
  ],
  commandMarks: { set: ['CLAUDECODE'], run: 'CLAUDE_CODE_SESSION_ID', rank: 1 },
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
