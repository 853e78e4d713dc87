import { join } from 'node:path';
import { userHome } from '../wire/covibe-home.ts';
import type { AgentClient, ClientConnection } from './client.ts';
import { BRIDGE, bearer, bridgeEnvironment, hookEntries, serverEntry, startCommand, TOKEN, workingFolder } from './config-entries.ts';
import { fileArgument, hooksLikeClaude, shellArgument } from './hook-payload.ts';

const connection: ClientConnection = {
  http: (url, token) => ({
    where: 'Gemini CLI: run in your repository',
    text: `gemini mcp add --transport http --header "Authorization: Bearer ${token}" covenant ${url}`,
  }),
  file: 'Gemini CLI: .gemini/settings.json in your repository',
  section: 'mcpServers',
  format: 'json',
  stdio: (bridge) => ({ ...startCommand(bridge.command ?? BRIDGE), ...workingFolder(bridge), env: bridgeEnvironment('gemini', bridge, `$${TOKEN}`) }),
};

/** The event `PreCompress` of Gemini CLI is not used, because it fires before every model request, even if nothing is compacted. */
const hooks = hooksLikeClaude({
  events: {
    'session-start': 'SessionStart',
    'session-end': 'SessionEnd',
    prompt: 'BeforeAgent',
    'before-tool': 'BeforeTool',
    'after-tool': 'AfterTool',
    stop: 'AfterAgent',
  },
  contextEvents: ['session-start', 'prompt', 'after-tool'],
  fileTools: { write_file: fileArgument('file_path'), replace: fileArgument('file_path'), run_shell_command: shellArgument('command', 'dir_path') },
  render(event, { decision, reason, context, notice }) {
    const denied = decision === 'deny' && (event === 'before-tool' || event === 'stop');
    return {
      ...(notice && { systemMessage: notice }),
      ...(denied && { decision: 'deny', reason }),
      ...(context && hooks.contextEvents.includes(event) && { hookSpecificOutput: { hookEventName: hooks.events[event], additionalContext: context } }),
    };
  },
});

export const gemini: AgentClient = {
  name: 'gemini',
  displayName: 'Gemini CLI',
  programs: ['gemini'],
  folders: (env) => [join(userHome(env), '.gemini')],
  folderVariables: [],
  connection,
  hooks,
  files: (setting) => [
    {
      path: join(setting.root, '.gemini/settings.json'),
      scope: 'repository',
      entries: [
        serverEntry(connection, setting),
        ...hookEntries(
          'gemini',
          hooks,
          {
            top: '"$GEMINI_PROJECT_DIR"',
            writing: 'write_file|replace|run_shell_command|mcp_.*',
            hook: ({ event, command, timeout }) => ({ type: 'command', name: `covibe ${event}`, command, timeout: timeout * 1000 }),
          },
          setting,
        ),
      ],
      note: 'Gemini CLI uses the hooks only in a trusted folder. When you start it here, it asks whether you trust the folder.',
    },
  ],
  commandMarks: { set: ['GEMINI_CLI'], rank: 3 },
  usageSources: ['gemini'],
  instance: {
    agent: 'gemini',
    runtime: 'gemini',
    launcher: {
      command: 'gemini',
      args: ['--skip-trust', '--prompt-interactive={{prompt}}'],
      headless_args: ['--skip-trust', '--prompt={{prompt}}'],
      env: { GEMINI_CLI_SYSTEM_SETTINGS_PATH: '{{mcp_config}}/gemini.json' },
      pass_env: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_CLOUD_PROJECT', 'GOOGLE_APPLICATION_CREDENTIALS'],
      prompt: 'argument',
    },
    serverFile: {
      name: 'gemini.json',
      content: (httpUrl) => ({ mcpServers: { covenant: { httpUrl, headers: bearer(`$${TOKEN}`), trust: true } } }),
    },
  },
};
