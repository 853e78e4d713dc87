import { join } from 'node:path';
import { userHome } from '../wire/covibe-home.ts';
import type { AgentClient, ClientConnection, HookClient } from './client.ts';
import { BRIDGE, bridgeEntry, hookEntries, started, TOKEN, workingFolder } from './config-entries.ts';
import { patch, reduced, rendered, shell } from './hook-payload.ts';

const connection: ClientConnection = {
  http: (url, token) => ({
    where: 'Codex: the variable must be set wherever codex is started',
    text: `export COVIBE_MCP_TOKEN=${token}; codex mcp add covenant --url ${url} --bearer-token-env-var COVIBE_MCP_TOKEN`,
  }),
  file: 'Codex: ~/.codex/config.toml',
  section: 'mcp_servers',
  // PWD goes along because the file is one for all repositories.
  stdio: (bridge) => ({
    ...started(bridge.command ?? BRIDGE),
    ...workingFolder(bridge),
    env: { COVIBE_BASE_URL: bridge.baseUrl, COVIBE_AGENT: 'codex' },
    env_vars: [TOKEN, 'PWD'],
  }),
};

/** Its hooks call every shell `Bash`, and give the patch as the command. The folder of a single command is not told. */
const FILE_TOOLS = {
  apply_patch: patch('command'),
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

const home = (env: NodeJS.ProcessEnv): string => env.CODEX_HOME || join(userHome(env), '.codex');

const SERVER_ARGS = ['-c', 'mcp_servers.covenant.url="{{mcp_url}}"', '-c', 'mcp_servers.covenant.bearer_token_env_var="COVIBE_MCP_TOKEN"'];

export const codex: AgentClient = {
  name: 'codex',
  programs: ['codex'],
  folders: (env) => [home(env)],
  folderVariables: ['CODEX_HOME', 'CODEX_SQLITE_HOME'],
  connection,
  hooks,
  files: (setting) => [
    {
      path: join(home(setting.env), 'config.toml'),
      scope: 'machine',
      // Without a folder: it starts the bridge where it works itself, whichever repository that is.
      entries: [{ kind: 'table', what: 'server entry', ...bridgeEntry(connection, { baseUrl: setting.origin, command: setting.programs.bridge }) }],
    },
    {
      // In the repository, not in its home: other repositories are none of our business.
      path: join(setting.root, '.codex/hooks.json'),
      scope: 'repository',
      entries: hookEntries(
        {
          client: 'codex',
          events: hooks.events,
          writing: 'Bash|apply_patch|mcp__.*',
          // It allows no more.
          timeouts: { 'session-end': 3 },
          element: ({ matcher, command, timeout }) => ({ ...(matcher !== undefined && { matcher }), hooks: [{ type: 'command', command, timeout }] }),
        },
        setting,
      ),
      note: 'Codex runs these hooks once you have trusted this folder and them: start codex here, then /hooks.',
    },
  ],
  commandMarks: { set: ['CODEX_SESSION_ID', 'CODEX_THREAD_ID', 'CODEX_SANDBOX'], run: 'CODEX_SESSION_ID' },
  usageSources: ['codex'],
  instance: {
    agent: 'codex',
    runtime: 'codex',
    launcher: {
      command: 'codex',
      args: [...SERVER_ARGS, '--', '{{prompt}}'],
      headless_args: ['exec', ...SERVER_ARGS, '--', '{{prompt}}'],
      env: {},
      pass_env: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'CODEX_HOME'],
      prompt: 'argument',
    },
  },
};
