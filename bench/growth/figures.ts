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

/** Adds fresh figures to the stored ones. Stored figures for the same engines and sizes are replaced, all others stay. */
export function keepFigures(fresh: readonly Figure[]): Figure[] {
  const isOld = ({ engine, size }: Figure) => !fresh.some((each) => each.engine === engine && each.size === size);
  const all = [...readFigures().filter(isOld), ...fresh].sort((a, b) => a.engine.localeCompare(b.engine) * -1 || a.size - b.size);
  writeFileSync(FILE, `[\n${all.map((figure) => `  ${JSON.stringify(figure)}`).join(',\n')}\n]\n`);
  return all;
}

/**
 * How many times slower an operation may be on a store that is ten times as large, if its answer has the same size. The limit is higher than 1, because times
 * vary on a busy machine.
 */
const MAX_GROWTH = 2;
/** Times below this value are not compared, because they are too imprecise. */
const LEAST_MS = 2;

/**
 * Returns the operations that are more than `MAX_GROWTH` times slower at size `to` than at size `from`. Compares the fastest runs, minus the base cost that
 * every call has.
 */
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
