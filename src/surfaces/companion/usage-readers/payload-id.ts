import { attributesOf } from '../../../features/team/usage/otel.ts';
import { recordOf } from '../../../wire/json.ts';

type Entry = Readonly<Record<string, unknown>>;

/**
 * The names of fields whose id identifies a single use, in the spelling that `plain` returns.
 * Ids of users, sessions and conversations are missing here, because many uses share them.
 */
const OF_ONE_USE = ['id', 'uuid', 'requestid', 'responseid', 'messageid', 'messageuuid', 'genairesponseid'];

/**
 * OpenTelemetry's timestamps serve as ids, because its log events and metrics have no
 * other id. The start time of a metric is not used, because later data points repeat it.
 */
const MOMENTS = ['timeunixnano', 'endtimeunixnano'];

/** The fields of a payload in which a use can be nested. Ids in other fields, such as that of the user, do not identify a use. */
const HOLDERS = [
  ...['message', 'response', 'payload', 'direct_counts'],
  ...['resourceSpans', 'scopeSpans', 'spans', 'resourceLogs', 'scopeLogs', 'logRecords'],
  ...['resourceMetrics', 'scopeMetrics', 'metrics', 'sum', 'histogram', 'dataPoints'],
];

/** The depth at which OpenTelemetry's data points are nested. */
const DEEPEST = 5;

/** Finds the id of a use inside a payload. A single such id is enough to distinguish the payload from all others. */
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

export function idOf(entry: Entry): string | undefined {
  const values = new Map(Object.entries(entry).map(([key, value]) => [plain(key), textOf(value)]));
  const known = (name: string) => values.get(name) !== undefined;
  // OpenTelemetry writes zeros for a missing id.
  const isSet = (name: string) => /[^0]/.test(values.get(name) ?? '');
  const names = OF_ONE_USE.filter(known).concat(isSet('traceid') && isSet('spanid') ? ['traceid', 'spanid'] : [], MOMENTS.filter(isSet));
  return names.length === 0 ? undefined : JSON.stringify(names.map((name) => [name, values.get(name)]));
}

/** Spells a field name in a uniform way: `request_id`, `requestId`, `request-id` and `requestID` become the same name. */
const plain = (key: string): string => key.toLowerCase().replace(/[-_.]/g, '');

const textOf = (value: unknown): string | undefined => (typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : undefined);
