import { join } from 'node:path';
import { userHome } from '../wire/covibe-home.ts';
import { recordIn, stringOf } from '../wire/json.ts';
import type { AgentClient, ClientConnection, HookClient } from './client.ts';
import { bearer, bridgeEnvironment, hookEntries, indentedJson, inFolder, serverEntry, startCommand, TOKEN, workingFolder } from './config-entries.ts';
import { fileArgument, filesOf, shellArgument } from './hook-payload.ts';
import { ownSession } from './own-session.ts';

const connection: ClientConnection = {
  http: (url, token) => ({
    where: 'Cursor: add to .cursor/mcp.json',
    text: indentedJson({ mcpServers: { covenant: { url, headers: bearer(token) } } }),
  }),
  file: 'Cursor: .cursor/mcp.json in your repository',
  section: 'mcpServers',
  format: 'json',
  stdio: (bridge) => ({ ...startCommand(inFolder(bridge)), ...workingFolder(bridge), env: bridgeEnvironment('cursor', bridge, `\${env:${TOKEN}}`) }),
};

const FILE = fileArgument('file_path', 'path', 'target_file', 'target_notebook');

const FILE_TOOLS = {
  Write: FILE,
  Edit: FILE,
  MultiEdit: FILE,
  StrReplace: FILE,
  EditNotebook: FILE,
  Delete: FILE,
  Shell: shellArgument('command', 'working_directory'),
};

/**
 * The prompt event is not used, because Cursor does not show its answer to the agent. An answer that allows an edit stays empty,
 * because `"permission": "allow"` would skip Cursor's own question to the person.
 */
const hooks: HookClient = {
  events: {
    'session-start': 'sessionStart',
    'session-end': 'sessionEnd',
    'before-tool': 'preToolUse',
    'after-tool': 'postToolUse',
    compact: 'preCompact',
    stop: 'stop',
  },
  contextEvents: ['session-start', 'after-tool'],
  fileTools: FILE_TOOLS,
  reduce(event, native) {
    const tool = stringOf(native.tool_name);
    // In the payload of `beforeShellExecution`, the command is a field of its own and not part of `tool_input`.
    const input = tool === undefined && stringOf(native.command) ? { command: native.command } : native.tool_input;
    const loops = typeof native.loop_count === 'number' ? native.loop_count : 0;
    return {
      client_session: stringOf(native.conversation_id) ?? stringOf(native.session_id),
      folder: stringOf(native.cwd) ?? firstString(native.workspace_roots),
      source: event === 'session-start' ? 'startup' : undefined,
      model: stringOf(native.model),
      tool,
      ...ownSession(tool, native.tool_input, native.tool_output ?? native.result_json ?? recordIn(native.tool_response)),
      // If a person stopped the agent, the stop must not be denied, because the agent would continue.
      again: loops > 0 || (event === 'stop' && native.status !== undefined && native.status !== 'completed') || undefined,
      ...(event === 'before-tool' && filesOf(FILE_TOOLS, tool ?? 'Shell', input)),
    };
  },
  render(event, { decision, reason, context, notice }) {
    if (event === 'before-tool') return decision === 'deny' ? { permission: 'deny', user_message: notice ?? reason, agent_message: reason } : {};
    if (event === 'stop') return decision === 'deny' ? { followup_message: reason } : {};
    return context && hooks.contextEvents.includes(event) ? { additional_context: context } : {};
  },
};

const firstString = (value: unknown): string | undefined => (Array.isArray(value) ? stringOf(value[0]) : undefined);

/**
 * Cursor's variable for the folder of the repository. Cursor may start servers in any folder, and the path must not be written to
 * the file, because people may share it.
 */
const FOLDER = '${' + 'workspaceFolder}';

/** The path of the database in which Cursor stores the data that all of its windows share. */
export function cursorStore(env: NodeJS.ProcessEnv, platform: string = process.platform): string {
  const home = userHome(env);
  const settings: Record<string, string> = {
    darwin: join(home, 'Library/Application Support'),
    win32: env.APPDATA || join(home, 'AppData/Roaming'),
  };
  return join(settings[platform] ?? (env.XDG_CONFIG_HOME || join(home, '.config')), 'Cursor/User/globalStorage/state.vscdb');
}

export const cursor: AgentClient = {
  name: 'cursor',
  displayName: 'Cursor',
  programs: ['cursor', 'cursor-agent'],
  folders: (env) => [join(userHome(env), '.cursor'), '/Applications/Cursor.app'],
  folderVariables: ['XDG_CONFIG_HOME'],
  connection,
  hooks,
  files: (setting) => [
    {
      path: join(setting.root, '.cursor/mcp.json'),
      scope: 'repository',
      entries: [serverEntry(connection, setting, FOLDER)],
      note: 'Enable the server covibe in Cursor under Settings, MCP.',
    },
    {
      path: join(setting.root, '.cursor/hooks.json'),
      scope: 'repository',
      entries: [
        { kind: 'member', what: 'version', at: ['version'], value: 1, isDefault: true },
        ...hookEntries(
          'cursor',
          hooks,
          {
            // Cursor runs hooks at the top of the repository.
            top: '.',
            writing: 'Write|Edit|MultiEdit|StrReplace|EditNotebook|Delete|Shell|MCP:.*',
            element: ({ command, timeout }, matcher) => ({ command, timeout, ...matcher }),
          },
          setting,
        ),
      ],
    },
  ],
  commandMarks: { set: ['CURSOR_AGENT'], rank: 4 },
  usageSources: ['cursor'],
};
