import type { HookQuestion } from '../wire/hook-question.ts';
import { parseJson, recordIn, stringOf } from '../wire/json.ts';

/**
 * Matches the names of Covenant's tools. Every client spells them in its own way: `mcp__covibe__covibe_task`,
 * `mcp_covibe_covibe_task`, `covibe.covibe_task`, `MCP:covibe_task`.
 */
const OURS = /(?:^|[^a-z])covibe_[a-z_]+$/;

/** Matches short words without spaces, such as the id of a session, so that no other text is reported as an id. */
const ID = /^[\w.:-]{1,64}$/;

const idOf = (value: unknown): string | undefined => (typeof value === 'string' && ID.test(value) ? value : undefined);

/** Returns the Covenant session that a call of a Covenant tool named, or that `covibe_session start` returned. */
export function ownSession(tool: string | undefined, input: unknown, response: unknown): Pick<HookQuestion, 'session_id' | 'session_started'> {
  if (tool === undefined || !OURS.test(tool)) return {};
  const asked = recordIn(parsed(input));
  const started = tool.endsWith('covibe_session') && asked.operation === 'start' ? sessionIn(response, 0) : undefined;
  return started === undefined ? { session_id: idOf(asked.session_id) } : { session_id: started, session_started: true };
}

/**
 * Fields that may contain the session id of an answer. Each client wraps answers in its own way: as text, as MCP content or in
 * `llmContent`. Covenant's envelope contains the result in `data`.
 */
const WRAPPERS = ['structuredContent', 'data', 'content', 'text', 'llmContent', 'returnDisplay', 'output', 'result'] as const;
const DEEPEST = 6;

function sessionIn(value: unknown, depth: number): string | undefined {
  if (depth > DEEPEST) return undefined;
  const plain = parsed(value);
  if (Array.isArray(plain)) return firstOf(plain.slice(0, 5), depth);
  const record = recordIn(plain);
  return (
    idOf(record.session_id) ??
    firstOf(
      WRAPPERS.map((name) => record[name]),
      depth,
    )
  );
}

function firstOf(values: readonly unknown[], depth: number): string | undefined {
  for (const value of values) {
    const found = value === undefined ? undefined : sessionIn(value, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Parses the JSON object in a text, even if the client has put a tag around it. */
function parsed(value: unknown): unknown {
  const text = stringOf(value);
  return text === undefined ? value : parseJson(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
}
