import { Refusal } from '../../../kernel/reply.ts';
import type { TimeSlice } from '../../../kernel/time-slice.ts';
import { type Demand, shareOut } from './budget.ts';
import type { ContextPart, Omission } from './parts.ts';

/** A part of the answer, and its share of the room of its section. */
interface Weighted<T, S extends string> {
  readonly section: S;
  readonly part: ContextPart<T>;
  readonly weight: number;
  readonly turn: number;
}

type Parts<S extends string> = Readonly<Record<string, Weighted<unknown, S>>>;
type Values<P> = { readonly [K in keyof P]: P[K] extends Weighted<infer T, string> ? T : never };
export type Sections<S extends string> = Readonly<Record<S, Omit<Demand, 'wants'>>>;

interface Packing<S extends string, P extends Parts<S>, R> {
  readonly sections: Sections<S>;
  readonly parts: P;
  readonly max: number;
  readonly slice: TimeSlice;
  assemble(values: Values<P>, omitted: Omission[]): R;
  /** Measures the size of the whole answer. The sizes of the parts do not add up exactly to this size. */
  measure(result: R): number;
}

interface Packed<R> {
  readonly result: R;
  readonly size: number;
}

const ROUNDS = 3;
/** If less than this fraction of the budget is still free, no further round is tried. */
const CLOSE = 0.02;
/** The sizes of the parts may add up to more than the size of the whole answer, but at most by this factor. */
const OVERRATED = 1.25;

/** Fills the answer with as much as fits. If even the smallest possible answer does not fit, refuses and reports the minimum for `max_tokens`. */
export async function pack<S extends string, P extends Parts<S>, R>(packing: Packing<S, P, R>): Promise<Packed<R>> {
  const { parts, max, slice } = packing;
  const attempt = async (room: number): Promise<Packed<R>> => {
    const result = await fill(packing, room);
    const size = packing.measure(result);
    await slice.pauseIfOver();
    return { result, size };
  };
  let wants = 0;
  for (const { part } of Object.values(parts)) {
    wants += part.wants;
    await slice.pauseIfOver();
  }
  const whole = wants <= max * OVERRATED ? await attempt(Number.POSITIVE_INFINITY) : undefined;
  if (whole && whole.size <= max) return whole;
  const bare = await attempt(0);
  if (bare.size > max) throw tooSmall(max, Math.min(bare.size, whole?.size ?? bare.size));
  let best = bare;
  let room = max - bare.size;
  for (let round = 0; round < ROUNDS; round++) {
    const next = await attempt(room);
    const free = max - next.size;
    if (free >= 0 && next.size >= best.size) best = next;
    if (free >= 0 && free <= max * CLOSE) break;
    room += free < 0 ? 2 * free : free;
  }
  return best;
}

async function fill<S extends string, P extends Parts<S>, R>({ sections, parts, slice, assemble }: Packing<S, P, R>, room: number): Promise<R> {
  const rooms = roomOf(sections, parts, room);
  const omitted: Omission[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { part }] of Object.entries(parts)) {
    const filled = part.fill(rooms.get(name) ?? 0);
    values[name] = filled.value;
    omitted.push(...filled.omitted);
    await slice.pauseIfOver();
  }
  return assemble(values as Values<P>, omitted);
}

/** Divides the room among the sections, and then the room of each section among the parts of that section. */
function roomOf<S extends string>(sections: Sections<S>, parts: Parts<S>, room: number): Map<string, number> {
  if (room === Number.POSITIVE_INFINITY) return new Map(Object.keys(parts).map((name) => [name, room]));
  const names = Object.keys(sections) as S[];
  const members = names.map((section) => Object.entries(parts).filter(([, each]) => each.section === section));
  const demands = names.map((section, at) => ({ ...sections[section], wants: (members[at] ?? []).reduce((sum, [, { part }]) => sum + part.wants, 0) }));
  const given = shareOut(room, demands);
  return new Map(
    members.flatMap((own, at) => {
      const rooms = shareOut(
        given[at] as number,
        own.map(([, { part, weight, turn }]) => ({ wants: part.wants, weight, turn })),
      );
      return own.map(([name], index): [string, number] => [name, rooms[index] as number]);
    }),
  );
}

function tooSmall(max: number, minimum: number): Refusal {
  return new Refusal(
    'BUDGET_TOO_SMALL',
    `max_tokens ${max} is too small even for ids and names. The minimum is ${minimum}.`,
    `Call again with max_tokens ${minimum} or more.`,
    { field: 'max_tokens', minimum },
  );
}
