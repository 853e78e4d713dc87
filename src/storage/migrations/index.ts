import type { Migration } from '../migrate.ts';
import { baseline } from './0016_baseline.ts';

/** In order and without gaps. A released migration never changes; new ones go at the end. */
export const MIGRATIONS: readonly [Migration, ...Migration[]] = [baseline];
