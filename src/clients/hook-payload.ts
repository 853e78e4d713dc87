import type { HookAnswer, HookEvent } from '../wire/hook-question.ts';
import { recordIn, stringOf } from '../wire/json.ts';
import type { HookClient, ReducedPayload, RenderedAnswer } from './client.ts';
import { ownSession } from './own-session.ts';
import { filesWritten, type WrittenFiles } from './shell.ts';
import { patchedFiles } from './writers.ts';

type Native = Readonly<Record<string, unknown>>;

const SOURCES = ['startup', 'resume', 'clear', 'compact'] as const;

/** Reduces a payload with Claude Code's field names, which Codex and Gemini CLI have adopted. */
function reduced(event: HookEvent, native: Native, tools: FileTools): ReducedPayload {
  const tool = stringOf(native.tool_name);
  return {
    client_session: stringOf(native.session_id),
    folder: stringOf(native.cwd),
    source: event === 'session-start' ? SOURCES.find((source) => source === native.source) : undefined,
    model: stringOf(native.model),
    tool,
    ...ownSession(tool, native.tool_input, native.tool_response),
    again: native.stop_hook_active === true || undefined,
    ...(event === 'before-tool' && filesOf(tools, tool, native.tool_input)),
  };
}

/** Renders an answer in Claude Code's format, which Codex can read, too. Content for which the format has no field is dropped. */
function rendered({ events, contextEvents }: HookClient, event: HookEvent, answer: HookAnswer): RenderedAnswer {
  const { decision, reason, context, notice } = answer;
  const said = notice ? { systemMessage: notice } : {};
  if (event === 'session-end') return {};
  if (event === 'stop') return decision === 'deny' ? { ...said, decision: 'block', reason } : said;
  const denied = event === 'before-tool' && decision === 'deny' ? { permissionDecision: 'deny', permissionDecisionReason: reason } : {};
  const specific = { ...denied, ...(context && contextEvents.includes(event) ? { additionalContext: context } : {}) };
  return Object.keys(specific).length > 0 ? { ...said, hookSpecificOutput: { hookEventName: events[event], ...specific } } : said;
}

/** The event names of Claude Code, which Codex uses, too. Both programs report a compaction as a session start with `source: "compact"`. */
const EVENTS: HookClient['events'] = {
  'session-start': 'SessionStart',
  'session-end': 'SessionEnd',
  prompt: 'UserPromptSubmit',
  'before-tool': 'PreToolUse',
  'after-tool': 'PostToolUse',
  stop: 'Stop',
};

/** Returns hooks in Claude Code's format. A client can override parts of it. */
export function hooksLikeClaude(own: Pick<HookClient, 'fileTools'> & Partial<HookClient>): HookClient {
  const hooks: HookClient = {
    events: EVENTS,
    contextEvents: ['session-start', 'prompt', 'before-tool', 'after-tool'],
    reduce: (event, native) => reduced(event, native, own.fileTools),
    render: (event, answer) => rendered(hooks, event, answer),
    ...own,
  };
  return hooks;
}

/** Determines the files that a tool will write from the input of the tool. */
type Files = (input: Native) => WrittenFiles;

/**
 * How to find the files that a client's tools will write, by the tool's name in the client's hooks. Tools that are missing here
 * are treated as tools that write nothing.
 */
export type FileTools = Readonly<Record<string, Files>>;

const all = (paths: readonly string[]): WrittenFiles => ({ files: paths.map((path) => ({ path })), unread: false });

/** For a tool that writes one file, whose path is in the first of these arguments that is set. */
export const fileArgument =
  (...names: string[]): Files =>
  (input) =>
    all(names.flatMap((name) => stringOf(input[name]) ?? []).slice(0, 1));

export const shellArgument =
  (command: string, folder?: string): Files =>
  (input) => {
    const inFolder = folder === undefined ? undefined : stringOf(input[folder]);
    const written = filesWritten(stringOf(input[command]) ?? '');
    if (inFolder === undefined) return written;
    return { ...written, files: written.files.map((file) => (file.path.startsWith('/') ? file : { ...file, path: `${inFolder}/${file.path}` })) };
  };

export const patchArgument =
  (name: string): Files =>
  (input) =>
    all(patchedFiles(stringOf(input[name]) ?? ''));

/** Returns the files that a tool will write as fields of a reduced payload. The fields are omitted if the tool writes nothing. */
export function filesOf(tools: FileTools, tool: string | undefined, input: unknown): Partial<WrittenFiles> {
  const written = tool !== undefined && Object.hasOwn(tools, tool) ? tools[tool]?.(recordIn(input)) : undefined;
  return { ...(written?.files.length && { files: written.files }), ...(written?.unread && { unread: true }) };
}
