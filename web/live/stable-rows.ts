import { useEffect, useState } from 'react';

const PAUSE_PX = 80;

/** Whether the person has scrolled down. New rows at the top must then wait, because they would push down what the person is reading. */
export function usePaused(): boolean {
  const [paused, setPaused] = useState(() => scrollY > PAUSE_PX);
  useEffect(() => {
    const update = () => setPaused(scrollY > PAUSE_PX);
    addEventListener('scroll', update, { passive: true });
    return () => removeEventListener('scroll', update);
  }, []);
  return paused;
}

/** Returns the current value, or while `frozen` is true, the last value before that. */
export function useLastValue<T>(value: T, frozen: boolean): T {
  const [kept, setKept] = useState(value);
  if (!frozen && kept !== value) setKept(value);
  return frozen ? kept : value;
}

/**
 * Returns rows that do not move while the person has scrolled down. Rows that are already shown are updated in place, and new rows at the top wait. Rows at
 * the end are added, because the person has requested them.
 */
export function useStableRows<T>(rows: readonly T[], keyOf: (row: T) => string | number): { stable: readonly T[]; waiting: number } {
  const paused = usePaused();
  const before = useLastValue(rows, paused);
  if (!paused || before === rows) return { stable: rows, waiting: 0 };
  const known = new Set(before.map(keyOf));
  const current = new Map(rows.map((row) => [keyOf(row), row]));
  const kept = before.flatMap((row) => current.get(keyOf(row)) ?? []);
  const end = rows.findLastIndex((row) => known.has(keyOf(row))) + 1;
  return { stable: [...kept, ...rows.slice(end)], waiting: rows.slice(0, end).filter((row) => !known.has(keyOf(row))).length };
}
