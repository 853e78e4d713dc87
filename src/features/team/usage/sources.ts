import { invalidInput } from '../../../kernel/input.ts';
import { anthropic, anthropicByItsMarks } from './anthropic.ts';
import { direct } from './direct.ts';
import { gemini } from './gemini.ts';
import { openai } from './openai.ts';
import { otel } from './otel.ts';
import { rootOf, type UsagePlace } from './place.ts';
import type { UsageSpan } from './span.ts';

/** Gives the spans of a payload of its shape, nothing where the payload has another, and refuses counters that cannot be. */
type Shape = (payload: UsagePlace) => UsageSpan[] | undefined;

/** A payload whose maker the source does not tell. */
const ANY_MAKER: readonly Shape[] = [direct, anthropicByItsMarks, gemini, openai];

/** Who took the counters, and in which shapes they come from there. The first that fits is read. */
const SHAPES = {
  claude: [anthropic],
  'claude-code': [anthropic],
  anthropic: [anthropic],
  codex: [openai],
  openai: [openai],
  gemini: [gemini, direct],
  cursor: [direct, anthropicByItsMarks, openai],
  harness: ANY_MAKER,
  provider: ANY_MAKER,
  proxy: ANY_MAKER,
  otel: [otel],
} as const satisfies Record<string, readonly Shape[]>;

export type Source = keyof typeof SHAPES;
export const SOURCES = Object.keys(SHAPES) as [Source, ...Source[]];

/** More than a turn of any agent makes. */
const MAX_SPANS = 200;

export function readPayload(source: Source, payload: Record<string, unknown>): UsageSpan[] {
  const root = rootOf(payload);
  const shapes: readonly Shape[] = SHAPES[source];
  let spans: UsageSpan[] | undefined;
  for (const shape of shapes) {
    spans = shape(root);
    if (spans) break;
  }
  const counted = (spans ?? []).filter((span) => span.total_tokens > 0);
  if (counted.length === 0) throw invalidInput([{ field: 'payload', message: `has no token counters in a shape that ${source} gives` }]);
  if (counted.length > MAX_SPANS) throw invalidInput([{ field: 'payload', message: `has more than ${MAX_SPANS} spans with token counters` }]);
  return counted;
}
