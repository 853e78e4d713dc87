import { useRead } from '../../queries.ts';
import type { Rights } from './for-operator.tsx';

/** A server comes up, goes down and is restarted without an event that everybody is told of. */
const EVERY_MS = 15_000;

/** Asked for only by who gets an answer. */
export const useServers = (rights: Rights) => useRead('servers.list', {}, { everyMs: EVERY_MS, enabled: rights === 'operator' });
