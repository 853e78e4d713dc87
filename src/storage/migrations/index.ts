import type { Migration } from '../migrate.ts';
import { foundation } from './0001_foundation.ts';

/** In order, without gaps. A released migration never changes; a new one goes below it. */
export const MIGRATIONS: readonly Migration[] = [foundation];
