import type { Migration } from '../migrate.ts';
import { baseline } from './0016_baseline.ts';

/** Migrations are sorted by number, without gaps. Add new ones at the end, and never change one that was released. */
export const MIGRATIONS: readonly [Migration, ...Migration[]] = [baseline];
