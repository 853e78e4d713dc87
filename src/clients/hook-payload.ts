import type { HookAnswer, HookEvent } from '../wire/hook-question.ts';
import { recordIn, stringOf } from '../wire/json.ts';
import type { HookClient, ReducedPayload, RenderedAnswer } from './client.ts';
import { ownSession } from './own-session.ts';
import { filesWritten, type WrittenFiles } from './shell.ts';
import { patchedFiles } from './writers.ts';

type Native = Readonly<Record<string, unknown>>;

const SOURCES = ['startup', 'resume', 'clear', 'compact'] as const;

/** For payloads with Claude Code's field names, which Codex and Gemini CLI have adopted. */
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

/** Answers in Claude Code's format, which Codex reads too. Content without a field for it is dropped. */
function rendered({ events, contextEvents }: HookClient, event: HookEvent, answer: HookAnswer): RenderedAnswer {
  const { decision, reason, context, notice } = answer;
  const said = notice ? { systemMessage: notice } : {};
  if (event === 'session-end') return {};
  if (event === 'stop') return decision === 'deny' ? { ...said, decision: 'block', reason } : said;
  const denied = event === 'before-tool' && decision === 'deny' ? { permissionDecision: 'deny', permissionDecisionReason: reason } : {};
  const specific = { ...denied, ...(context && contextEvents.includes(event) ? { additionalContext: context } : {}) };
  return Object.keys(specific).length > 0 ? { ...said, hookSpecificOutput: { hookEventName: events[event], ...specific } } : said;
}

/** Claude Code's names for its events, which Codex uses too. Both report a compaction as a session start with `source: "compact"`. */
const EVENTS: HookClient['events'] = {
  'session-start': 'SessionStart',
  'session-end': 'SessionEnd',
  prompt: 'UserPromptSubmit',
  'before-tool': 'PreToolUse',
  'after-tool': 'PostToolUse',
  stop: 'Stop',
};

/** Hooks in Claude Code's format, except for what a client overrides. */
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

/** How a tool names the files it will write. */
type Files = (input: Native) => WrittenFiles;

/** The files that a client's tools write, by the tools' names in its hooks. Other tools write nothing that we know of. */
export type FileTools = Readonly<Record<string, Files>>;

const all = (paths: readonly string[]): WrittenFiles => ({ files: paths.map((path) => ({ path })), unread: false });

/** One of these arguments is the file. */
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

/** As fields of a reduced payload, omitted if nothing is written. */
export function filesOf(tools: FileTools, tool: string | undefined, input: unknown): Partial<WrittenFiles> {
  const written = tool !== undefined && Object.hasOwn(tools, tool) ? tools[tool]?.(recordIn(input)) : undefined;
  return { ...(written?.files.length && { files: written.files }), ...(written?.unread && { unread: true }) };
}
