import { type HookClient, recordOf, stringOf } from '../client.ts';
import { filesOf, named, shell } from '../file-tools.ts';
import { ownSession } from '../own-session.ts';

const FILE = named('file_path', 'path', 'target_file', 'target_notebook');

const FILE_TOOLS = {
  Write: FILE,
  Edit: FILE,
  MultiEdit: FILE,
  StrReplace: FILE,
  EditNotebook: FILE,
  Delete: FILE,
  Shell: shell('command', 'working_directory'),
};

/**
 * It shows the agent nothing at a prompt, so that event is not asked for. An answer that allows stays empty: `"permission": "allow"`
 * would run what a person may still want to be asked about.
 */
export const cursor: HookClient = {
  events: {
    'session-start': 'sessionStart',
    'session-end': 'sessionEnd',
    'before-tool': 'preToolUse',
    'after-tool': 'postToolUse',
    compact: 'preCompact',
    stop: 'stop',
  },
  hears: ['session-start', 'after-tool'],
  reduce(event, native) {
    const tool = stringOf(native.tool_name);
    // `beforeShellExecution` has the command beside, not in a tool's input.
    const input = tool === undefined && stringOf(native.command) ? { command: native.command } : native.tool_input;
    const loops = typeof native.loop_count === 'number' ? native.loop_count : 0;
    return {
      client_session: stringOf(native.conversation_id) ?? stringOf(native.session_id),
      folder: stringOf(native.cwd) ?? firstString(native.workspace_roots),
      source: event === 'session-start' ? 'startup' : undefined,
      model: stringOf(native.model),
      tool,
      ...ownSession(tool, native.tool_input, native.tool_output ?? native.result_json ?? recordOf(native.tool_response)),
      // Whoever stopped it themselves must not see it go on.
      again: loops > 0 || (event === 'stop' && native.status !== undefined && native.status !== 'completed') || undefined,
      ...(event === 'before-tool' && filesOf(FILE_TOOLS, tool ?? 'Shell', input)),
    };
  },
  render(event, { decision, reason, context, notice }) {
    if (event === 'before-tool') return decision === 'deny' ? { permission: 'deny', user_message: notice ?? reason, agent_message: reason } : {};
    if (event === 'stop') return decision === 'deny' ? { followup_message: reason } : {};
    return context && cursor.hears.includes(event) ? { additional_context: context } : {};
  },
};

const firstString = (value: unknown): string | undefined => (Array.isArray(value) ? stringOf(value[0]) : undefined);
