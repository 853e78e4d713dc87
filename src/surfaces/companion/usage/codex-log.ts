import { codexEvent } from './codex-counters.ts';
import type { UsageEvent } from './event.ts';
import { recordOf } from './lines.ts';

/** What an entry of Codex's log says of a completed response. */
export interface Completed {
  readonly thread: string | undefined;
  /** `whole`: the response as it came, with its id. `counted`: the counters alone, which stand beside the former where that is logged too. */
  readonly form: 'whole' | 'counted';
  readonly event: UsageEvent | undefined;
}

const WHOLE = '{"type":"response.completed"';
/** The same counters are logged for two readers; those for traces are left out. */
const AGAIN = 'codex_otel.trace_safe';

/** Undefined: not of a completed response. */
export function completedIn(entry: string, about: { thread?: string | undefined; target?: string | undefined } = {}): Completed | undefined {
  if (about.target === AGAIN || entry.includes(AGAIN)) return undefined;
  const thread = about.thread ?? field(entry, 'conversation.id') ?? field(entry, 'thread_id') ?? field(entry, 'thread.id');
  const at = entry.indexOf(WHOLE);
  if (at >= 0) {
    const response = recordOf(parsed(entry.slice(at))?.response);
    return { thread, form: 'whole', event: typeof response?.id === 'string' ? codexEvent(response.id, response.model, response.usage) : undefined };
  }
  if (field(entry, 'event.kind') !== 'response.completed') return undefined;
  const count = (name: string) => (/^\d{1,15}$/.test(field(entry, name) ?? '') ? Number(field(entry, name)) : undefined);
  const usage = {
    input_tokens: count('input_token_count'),
    cached_input_tokens: count('cached_token_count'),
    cache_write_input_tokens: count('cache_write_token_count'),
    output_tokens: count('output_token_count'),
    reasoning_output_tokens: count('reasoning_token_count'),
  };
  return { thread, form: 'counted', event: codexEvent(`${thread} ${field(entry, 'event.timestamp')}`, field(entry, 'model'), usage) };
}

/** `name=value` or `name="value"`, as a whole word. The last: what others say comes before what the entry itself says. */
function field(entry: string, name: string): string | undefined {
  const found = [...entry.matchAll(new RegExp(`(?<=^|[\\s{])${name.replaceAll('.', '\\.')}="?([A-Za-z0-9._:+/-]{1,200})`, 'g'))].at(-1);
  return found?.[1];
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}
