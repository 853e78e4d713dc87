import { attributesOf } from '../../../features/team/usage/otel.ts';
import { recordOf } from '../../../wire/json.ts';

type Entry = Readonly<Record<string, unknown>>;

/** Names of ids that belong to one use only, as `plain` writes them. Ids of users, sessions and conversations occur in many. */
const OF_ONE_USE = ['id', 'uuid', 'requestid', 'responseid', 'messageid', 'messageuuid', 'genairesponseid'];

/** OpenTelemetry's moments of a use: its log events and metrics have nothing else. When a metric was begun is the same in all that follow. */
const MOMENTS = ['timeunixnano', 'endtimeunixnano'];

/** Where payloads have their uses. What else stands in them, such as who asked, has ids that say nothing about the use. */
const HOLDERS = [
  ...['message', 'response', 'payload', 'direct_counts'],
  ...['resourceSpans', 'scopeSpans', 'spans', 'resourceLogs', 'scopeLogs', 'logRecords'],
  ...['resourceMetrics', 'scopeMetrics', 'metrics', 'sum', 'histogram', 'dataPoints'],
];

/** As deep as OpenTelemetry has its data points. */
const DEEPEST = 5;

/** An id of a use in a payload: one is enough to tell the whole from every other. */
export function idWithin(payload: Entry, depth = DEEPEST): string | undefined {
  const own = idOf(payload) ?? idOf(attributesOf({ path: '', value: payload }).value);
  if (own !== undefined || depth === 0) return own;
  for (const holder of HOLDERS) {
    for (const inner of [payload[holder]].flat()) {
      const use = recordOf(inner);
      const found = use && idWithin(use, depth - 1);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The id that an object itself has. */
export function idOf(entry: Entry): string | undefined {
  const values = new Map(Object.entries(entry).map(([key, value]) => [plain(key), textOf(value)]));
  const known = (name: string) => values.get(name) !== undefined;
  // OpenTelemetry writes zeros where there is none.
  const isSet = (name: string) => /[^0]/.test(values.get(name) ?? '');
  const names = OF_ONE_USE.filter(known).concat(isSet('traceid') && isSet('spanid') ? ['traceid', 'spanid'] : [], MOMENTS.filter(isSet));
  return names.length === 0 ? undefined : JSON.stringify(names.map((name) => [name, values.get(name)]));
}

/** `request_id`, `requestId`, `request-id` and `requestID` are one name. */
const plain = (key: string): string => key.toLowerCase().replace(/[-_.]/g, '');

const textOf = (value: unknown): string | undefined => (typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : undefined);
