import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { EngineName } from '../engine.ts';
import type { OperationTimes } from './measure.ts';
import { FLOOR } from './operations.ts';

export const SIZES = [1_000, 10_000, 100_000, 1_000_000] as const;

export interface Figure extends OperationTimes {
  readonly engine: EngineName;
  readonly size: number;
}

const FILE = new URL('../growth.json', import.meta.url);

export const readFigures = (): Figure[] => (existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Figure[]) : []);

/** Keeps earlier figures of other engines and sizes. */
export function keepFigures(fresh: readonly Figure[]): Figure[] {
  const isOld = ({ engine, size }: Figure) => !fresh.some((each) => each.engine === engine && each.size === size);
  const all = [...readFigures().filter(isOld), ...fresh].sort((a, b) => a.engine.localeCompare(b.engine) * -1 || a.size - b.size);
  writeFileSync(FILE, `[\n${all.map((figure) => `  ${JSON.stringify(figure)}`).join(',\n')}\n]\n`);
  return all;
}

/** How many times slower an operation may be on a store ten times as large, if its answer has the same size. Allows for a noisy machine. */
const MAX_GROWTH = 2;
/** Shorter times are too imprecise to compare. */
const LEAST_MS = 2;

/** Operations that grew more than accepted in a store ten times as large. Compares the fastest runs, without the base cost of any call. */
export function grown(figures: readonly Figure[], engine: EngineName, from: number, to: number): string[] {
  const timeAt = (size: number, operation: string) =>
    figures.find((each) => each.engine === engine && each.size === size && each.operation === operation)?.least_ms;
  const own = (size: number, { operation, area }: Figure): number => {
    const floor = area === 'agents' || area === 'workflows' ? (timeAt(size, FLOOR) ?? 0) : 0;
    return Math.max(0, (timeAt(size, operation) ?? Number.NaN) - floor);
  };
  return figures
    .filter((each) => each.engine === engine && each.size === to && !each.whole)
    .filter((each) => own(to, each) > LEAST_MS && own(to, each) > MAX_GROWTH * own(from, each))
    .map(({ operation }) => operation);
}
