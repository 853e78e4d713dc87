import type { Migration } from '../migrate.ts';
import { baseline } from './0016_baseline.ts';

/** In order, without gaps. A released migration never changes; a new one goes below it. */
export const MIGRATIONS: readonly [Migration, ...Migration[]] = [baseline];
