import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Machine } from './machine.ts';

/** The baseline of a figure, measured in the same run, or the reason why it could not be measured. */
export type Baseline = { readonly name: string; readonly value: number; readonly unit: string } | { readonly name: string; readonly error: string };

export interface Row {
  readonly area: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly p50?: number;
  readonly p99?: number;
  readonly baseline: Baseline;
  /** Our figure divided by that of the baseline. Missing if the baseline could not be measured. */
  readonly ratio?: number;
  readonly note?: string;
}

/** One run of one area. */
export interface AreaRun {
  readonly at: string;
  readonly seconds: number;
  readonly error?: string;
}

export interface Results {
  readonly machine: Machine;
  readonly runs: Readonly<Record<string, AreaRun>>;
  readonly rows: readonly Row[];
}

const FILE = new URL('results.json', import.meta.url);

export function readResults(): Results | undefined {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Results) : undefined;
}

/**
 * Adds new runs to the old results. A new run replaces the old run of the same area. If the old results are from a different machine, they are dropped, because
 * figures of two machines cannot be compared.
 */
export function mergeResults(old: Results | undefined, fresh: Results): Results {
  if (!old || JSON.stringify(comparable(old.machine)) !== JSON.stringify(comparable(fresh.machine))) return fresh;
  const kept = old.rows.filter(({ area }) => !(area in fresh.runs));
  return { machine: fresh.machine, runs: { ...old.runs, ...fresh.runs }, rows: [...kept, ...fresh.rows] };
}

/** A description of the machine that leaves out what differs between runs or between builds of the same kernel. */
const comparable = ({ syncMs: _, os, ...machine }: Machine): Omit<Machine, 'syncMs'> => ({ ...machine, os: os.replace(/-.*/, '') });

export function writeResults(fresh: Results): void {
  writeFileSync(FILE, `${JSON.stringify(mergeResults(readResults(), fresh), null, 2)}\n`);
}
