import type { HookAnswer, HookEvent } from '../../wire/hook-question.ts';
import { type HookClient, type Reduced, type Rendered, stringOf } from './client.ts';
import { type FileTools, filesOf } from './file-tools.ts';
import { ownSession } from './own-session.ts';

type Native = Readonly<Record<string, unknown>>;

const SOURCES = ['startup', 'resume', 'clear', 'compact'] as const;

/** Of payloads with the field names of Claude Code, which Codex and Gemini CLI have taken over. */
export function reduced(event: HookEvent, native: Native, tools: FileTools): Reduced {
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

/** Answers of Claude Code, which Codex reads too. What is said without a field for it is not said. */
export function rendered({ events, hears }: Pick<HookClient, 'events' | 'hears'>, event: HookEvent, answer: HookAnswer): Rendered {
  const { decision, reason, context, notice } = answer;
  const said = notice ? { systemMessage: notice } : {};
  if (event === 'session-end') return {};
  if (event === 'stop') return decision === 'deny' ? { ...said, decision: 'block', reason } : said;
  const denied = event === 'before-tool' && decision === 'deny' ? { permissionDecision: 'deny', permissionDecisionReason: reason } : {};
  const specific = { ...denied, ...(context && hears.includes(event) ? { additionalContext: context } : {}) };
  return Object.keys(specific).length > 0 ? { ...said, hookSpecificOutput: { hookEventName: events[event], ...specific } } : said;
}
