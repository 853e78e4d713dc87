import type { HookQuestion } from '../wire/hook-question.ts';
import { parseJson, recordIn, stringOf } from '../wire/json.ts';

/** `mcp__covibe__covibe_task`, `mcp_covibe_covibe_task`, `covibe.covibe_task`, `MCP:covibe_task`: every client has its own spelling. */
const OURS = /(?:^|[^a-z])covibe_[a-z_]+$/;

/** Matches the id of a session and no other text. */
const ID = /^[\w.:-]{1,64}$/;

const idOf = (value: unknown): string | undefined => (typeof value === 'string' && ID.test(value) ? value : undefined);

/** The Covenant session that a call of our tool named, or that a start returned. */
export function ownSession(tool: string | undefined, input: unknown, response: unknown): Pick<HookQuestion, 'session_id' | 'session_started'> {
  if (tool === undefined || !OURS.test(tool)) return {};
  const asked = recordIn(parsed(input));
  const started = tool.endsWith('covibe_session') && asked.operation === 'start' ? sessionIn(response, 0) : undefined;
  return started === undefined ? { session_id: idOf(asked.session_id) } : { session_id: started, session_started: true };
}

/** Each client wraps the answer in its own way: as text, as MCP content, in `llmContent`. An envelope has it in `data`. */
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

/** JSON in a text, even if a client has put a tag around it. */
function parsed(value: unknown): unknown {
  const text = stringOf(value);
  return text === undefined ? value : parseJson(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
}
