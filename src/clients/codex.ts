import { join } from 'node:path';
import { userHome } from '../wire/covibe-home.ts';
import type { AgentClient, ClientConnection } from './client.ts';
import { BRIDGE, bridgeEntry, hookEntries, startCommand, TOKEN, workingFolder } from './config-entries.ts';
import { hooksLikeClaude, patchArgument, shellArgument } from './hook-payload.ts';

const connection: ClientConnection = {
  http: (url, token) => ({
    where: 'Codex: the variable must be set wherever codex is started',
    text: `export COVIBE_MCP_TOKEN=${token}; codex mcp add covenant --url ${url} --bearer-token-env-var COVIBE_MCP_TOKEN`,
  }),
  file: 'Codex: ~/.codex/config.toml',
  section: 'mcp_servers',
  format: 'toml',
  // The variable PWD is passed on to the bridge, because this one file is used in all repositories.
  stdio: (bridge) => ({
    ...startCommand(bridge.command ?? BRIDGE),
    ...workingFolder(bridge),
    env: { COVIBE_BASE_URL: bridge.baseUrl, COVIBE_AGENT: 'codex' },
    env_vars: [TOKEN, 'PWD'],
  }),
};

/**
 * Codex reports every shell tool under the name `Bash`, and a patch in the field `command`. It does not report the working folder
 * of a single command.
 */
const hooks = hooksLikeClaude({ fileTools: { apply_patch: patchArgument('command'), Bash: shellArgument('command') } });

const home = (env: NodeJS.ProcessEnv): string => env.CODEX_HOME || join(userHome(env), '.codex');

/**
 * The files in which Codex records usage: one rollout file for each stored thread, and a log database. Older versions write the
 * log to text files instead.
 */
export const codexStores = (env: NodeJS.ProcessEnv) => ({
  rollouts: { folders: ['sessions', 'archived_sessions'].map((folder) => join(home(env), folder)), name: /^rollout-.+\.jsonl$/ },
  /** If there are several databases, the one with the highest number is used. */
  database: { folder: env.CODEX_SQLITE_HOME || home(env), name: /^logs_(\d+)\.sqlite$/ },
  logs: { folders: [join(home(env), 'log'), join(userHome(env), 'Library/Logs/com.openai.codex')], name: /\.log$/ },
});

const SERVER_ARGS = ['-c', 'mcp_servers.covenant.url="{{mcp_url}}"', '-c', 'mcp_servers.covenant.bearer_token_env_var="COVIBE_MCP_TOKEN"'];

export const codex: AgentClient = {
  name: 'codex',
  displayName: 'Codex',
  programs: ['codex'],
  folders: (env) => [home(env)],
  folderVariables: ['CODEX_HOME', 'CODEX_SQLITE_HOME'],
  connection,
  hooks,
  files: (setting) => [
    {
      path: join(home(setting.env), 'config.toml'),
      scope: 'machine',
      // The entry contains no folder, because Codex starts the bridge in the folder of the repository in which Codex itself works.
      entries: [{ kind: 'table', what: 'server entry', ...bridgeEntry(connection, { baseUrl: setting.origin, command: setting.programs.bridge }) }],
    },
    {
      // The hooks are in the repository and not in Codex's home, so that they do not run in other repositories.
      path: join(setting.root, '.codex/hooks.json'),
      scope: 'repository',
      // Codex gives the hooks at the end of a session at most this time, in seconds.
      entries: hookEntries('codex', hooks, { writing: 'Bash|apply_patch|mcp__.*', timeouts: { 'session-end': 3 } }, setting),
      note: 'Codex runs these hooks only after you trust this folder and the hooks: start codex here, then run /hooks.',
    },
  ],
  commandMarks: { set: ['CODEX_SESSION_ID', 'CODEX_THREAD_ID', 'CODEX_SANDBOX'], run: 'CODEX_SESSION_ID', rank: 2 },
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
