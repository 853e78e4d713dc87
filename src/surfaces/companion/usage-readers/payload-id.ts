import { attributesOf } from '../../../features/team/usage/otel.ts';
import { recordOf } from '../../../wire/json.ts';

type Entry = Readonly<Record<string, unknown>>;

/** Names of ids that belong to a single use, in the spelling of `plain`. Ids of users, sessions and conversations occur in many uses. */
const OF_ONE_USE = ['id', 'uuid', 'requestid', 'responseid', 'messageid', 'messageuuid', 'genairesponseid'];

/** OpenTelemetry's timestamps of a use: its log events and metrics have no other id. A metric's start time is the same in all later points. */
const MOMENTS = ['timeunixnano', 'endtimeunixnano'];

/** The fields in which payloads keep their uses. Other fields, such as the user, have ids that do not identify the use. */
const HOLDERS = [
  ...['message', 'response', 'payload', 'direct_counts'],
  ...['resourceSpans', 'scopeSpans', 'spans', 'resourceLogs', 'scopeLogs', 'logRecords'],
  ...['resourceMetrics', 'scopeMetrics', 'metrics', 'sum', 'histogram', 'dataPoints'],
];

/** The depth of OpenTelemetry's data points. */
const DEEPEST = 5;

/** The id of a use inside a payload. One is enough to distinguish the payload from all others. */
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

/** The id that the object itself has. */
export function idOf(entry: Entry): string | undefined {
  const values = new Map(Object.entries(entry).map(([key, value]) => [plain(key), textOf(value)]));
  const known = (name: string) => values.get(name) !== undefined;
  // OpenTelemetry writes zeros for a missing id.
  const isSet = (name: string) => /[^0]/.test(values.get(name) ?? '');
  const names = OF_ONE_USE.filter(known).concat(isSet('traceid') && isSet('spanid') ? ['traceid', 'spanid'] : [], MOMENTS.filter(isSet));
  return names.length === 0 ? undefined : JSON.stringify(names.map((name) => [name, values.get(name)]));
}

/** `request_id`, `requestId`, `request-id` and `requestID` are the same name. */
const plain = (key: string): string => key.toLowerCase().replace(/[-_.]/g, '');

const textOf = (value: unknown): string | undefined => (typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : undefined);
