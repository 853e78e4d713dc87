import type { Db } from '../../../storage/engine.ts';
import { EVENT_CATEGORIES, type EventCategory } from '../../../storage/journal.ts';
import { JournalFold } from './journal-fold.ts';

const MINUTE_MS = 60_000;
const REFUSALS_KEPT = 50;
const DURATIONS_KEPT = 500;
/** The maximum number of tools that are counted. Only the tools that were called last are kept, because callers can invent any number of names. */
const MAX_TOOLS = 5_000;

interface CallCounts {
  calls: number;
  /** The number of denied, blocked and failed calls. */
  refused: number;
}

export interface TalliedRefusal {
  readonly seq: number;
  readonly time: number;
  readonly kind: string;
  readonly outcome: string;
  readonly code: string | null;
}

interface ActorTally {
  /** By minute since the epoch. */
  readonly minutes: Map<number, CallCounts>;
  /** The latest refusals, newest last. */
  readonly refusals: TalliedRefusal[];
  /** The last call of the agent itself. Null if only the companion on its machine has called. */
  lastCall: { readonly seq: number; readonly time: number; readonly refused: boolean } | null;
}

interface ToolTally {
  readonly minutes: Map<number, CallCounts>;
  /** Durations of the latest calls. */
  readonly durations: number[];
}

/** Counts for the last day of one workspace, computed from its journal. */
export interface DayTally {
  /** Events by minute since the epoch. */
  readonly minutes: ReadonlyMap<number, Readonly<Record<EventCategory, number>>>;
  /** Counts for each actor that made calls. */
  readonly actors: ReadonlyMap<string, Readonly<ActorTally>>;
  /** Counts for each called subject, such as `tool:clock`. */
  readonly tools: ReadonlyMap<string, Readonly<ToolTally>>;
}

interface Counting extends DayTally {
  readonly minutes: Map<number, Record<EventCategory, number>>;
  readonly actors: Map<string, ActorTally>;
  readonly tools: Map<string, ToolTally>;
}

interface CountedEvent {
  readonly seq: number;
  readonly category: EventCategory;
  readonly kind: string;
  readonly actor: string;
  readonly subject: string | null;
  readonly session: string | null;
  readonly payload: string;
  readonly time: number;
}

/** Counts over the last day of the journal. */
export class Tally {
  readonly #days = new JournalFold<Counting, CountedEvent>({
    keepMs: 24 * 60 * MINUTE_MS,
    pageSize: 2_000,
    begin: () => ({ minutes: new Map(), actors: new Map(), tools: new Map() }),
    read: (page) => page.select(['seq', 'category', 'kind', 'actor', 'subject', 'session', 'payload', 'time']).execute(),
    add(counting, page) {
      for (const event of page) count(counting, event);
    },
    forgetBefore: forgetOlder,
  });

  read(db: Db, workspace: string, now: number): Promise<DayTally> {
    return this.#days.read(db, workspace, now);
  }
}

const minuteOf = (time: number): number => Math.floor(time / MINUTE_MS);

function count(counting: Counting, event: CountedEvent): void {
  const minute = minuteOf(event.time);
  const categories = getOrAdd(counting.minutes, minute, () => Object.fromEntries(EVENT_CATEGORIES.map((name) => [name, 0])) as Record<EventCategory, number>);
  categories[event.category]++;
  if (event.category === 'work' && event.kind === DENIED_EDIT) countDenied(counting, event, minute);
  if (event.category !== 'usage') return;
  const { outcome = 'ok', code = null, duration_ms = 0 } = readUsage(event.payload);
  const refused = isRefusal(outcome);
  const { seq, time, kind } = event;
  const actor = getOrAdd(counting.actors, event.actor, noCalls);
  if (!isOfMachine(event)) actor.lastCall = { seq, time, refused };
  addCall(actor.minutes, minute, refused);
  if (refused) addRefusal(actor.refusals, { seq, time, kind, outcome, code });
  if (event.subject === null) return;
  const tool = getOrAdd(counting.tools, event.subject, () => ({ minutes: new Map(), durations: [] }));
  // Moves the tool to the end of the map, because it was called last.
  counting.tools.delete(event.subject);
  counting.tools.set(event.subject, tool);
  if (counting.tools.size > MAX_TOOLS) counting.tools.delete(counting.tools.keys().next().value as string);
  addCall(tool.minutes, minute, refused);
  tool.durations.push(duration_ms);
  if (tool.durations.length > DURATIONS_KEPT) tool.durations.shift();
}

const noCalls = (): ActorTally => ({ minutes: new Map(), refusals: [], lastCall: null });

/** Whether the companion made the call: a machine heartbeat or a usage report. The companion uses the token of an agent, even while no agent runs. */
const isOfMachine = ({ kind, session }: CountedEvent): boolean =>
  kind === 'covibe_ingest_agent_telemetry' || (kind === 'covibe_session.heartbeat' && session === null);

/** The event kind for an edit that a hook denied. Such an edit is not a call of the agent, so it does not count as the last call. */
export const DENIED_EDIT = 'edit.denied';

function countDenied(counting: Counting, { seq, time, kind, actor: name }: CountedEvent, minute: number): void {
  const actor = getOrAdd(counting.actors, name, noCalls);
  addCall(actor.minutes, minute, true);
  addRefusal(actor.refusals, { seq, time, kind, outcome: 'blocked', code: null });
}

function addRefusal(refusals: TalliedRefusal[], refusal: TalliedRefusal): void {
  refusals.push(refusal);
  if (refusals.length > REFUSALS_KEPT) refusals.shift();
}

/** A call that returns a warning still did what the caller wanted. */
const GRANTED = new Set(['ok', 'warning', 'input_required']);
const isRefusal = (outcome: string): boolean => !GRANTED.has(outcome);

interface Usage {
  readonly outcome?: string;
  readonly code?: string;
  readonly duration_ms?: number;
}

function readUsage(payload: string): Usage {
  try {
    return JSON.parse(payload) as Usage;
  } catch {
    return {};
  }
}

function addCall(minutes: Map<number, CallCounts>, minute: number, refused: boolean): void {
  const counts = getOrAdd(minutes, minute, () => ({ calls: 0, refused: 0 }));
  counts.calls++;
  if (refused) counts.refused++;
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Removes the minutes that are older than a day. The oldest minute comes first, because the times of events only rise. */
function forgetOlder(counting: Counting, since: number): void {
  const before = minuteOf(since);
  dropMinutes(counting.minutes, before);
  for (const [name, actor] of counting.actors) {
    dropMinutes(actor.minutes, before);
    while (actor.refusals[0] && actor.refusals[0].time < since) actor.refusals.shift();
    if (actor.minutes.size === 0) counting.actors.delete(name);
  }
  for (const [name, tool] of counting.tools) {
    dropMinutes(tool.minutes, before);
    if (tool.minutes.size === 0) counting.tools.delete(name);
  }
}

function dropMinutes(minutes: Map<number, unknown>, before: number): void {
  for (const minute of minutes.keys()) {
    if (minute >= before) return;
    minutes.delete(minute);
  }
}

export function totalCalls(minutes: ReadonlyMap<number, CallCounts>): CallCounts {
  const all = { calls: 0, refused: 0 };
  for (const { calls, refused } of minutes.values()) {
    all.calls += calls;
    all.refused += refused;
  }
  return all;
}

/** Counts the events of each category in time steps of equal length up to now. */
export function countByStep(day: Pick<DayTally, 'minutes'>, { now, minutes, step }: { now: number; minutes: number; step: number }) {
  const last = Math.floor(minuteOf(now) / step);
  const first = Math.floor((minuteOf(now) - minutes + 1) / step);
  const steps = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const counts = Object.fromEntries(EVENT_CATEGORIES.map((name) => [name, steps.map(() => 0)])) as Record<EventCategory, number[]>;
  for (const [minute, of] of day.minutes) {
    const place = Math.floor(minute / step) - first;
    for (const name of EVENT_CATEGORIES) {
      const line = counts[name];
      if (line[place] !== undefined) line[place] += of[name];
    }
  }
  return { times: steps.map((each) => each * step * MINUTE_MS), counts };
}
