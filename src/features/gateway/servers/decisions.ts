import { z } from 'zod';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import type { Db } from '../../../storage/engine.ts';
import { eventsAbout } from '../../../storage/journal.ts';
import { chunks, readJson } from '../../../storage/rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { WithheldDefinition } from './pins.ts';

const KINDS = ['upstream.approved', 'upstream.rejected'] as const;
/** The maximum number of definitions in an event, so that the event does not become too large. */
const EACH = 40;
/** For rejections, only this many of the latest events of a server are searched. */
const LOOKED_AT = 500;

/** Writes a person's decision on withheld definitions to the journal. */
export function appendDecision(tx: Tx, kind: (typeof KINDS)[number], server: string, chosen: readonly WithheldDefinition[], actor: string): void {
  for (const some of chunks(chosen, EACH)) {
    const named = some.map(({ kind: what, name, reason, fingerprint }) => ({ kind: what, name: name.slice(0, 80), reason, fingerprint }));
    const payload = { count: some.length, [kind === 'upstream.approved' ? 'approved' : 'rejected']: named };
    tx.append({ category: 'audit', kind, actor, subject: `server:${server}`, payload });
  }
}

export interface PinRejection {
  readonly actor: string;
  readonly at: number;
}

const decided = z.array(z.object({ fingerprint: z.string().optional() })).optional();
const payloads = z.object({ approved: decided, rejected: decided });

/** Maps fingerprints to their rejections. A rejection that was followed by an approval is left out. */
export async function rejectionsOf(db: Db, server: string): Promise<ReadonlyMap<string, PinRejection>> {
  const events = await eventsAbout(db, DEFAULT_WORKSPACE_ID, [`server:${server}`])
    .select(['kind', 'actor', 'time', 'payload'])
    .where('kind', 'in', KINDS)
    .orderBy('seq', 'desc')
    .limit(LOOKED_AT)
    .execute();
  const last = new Map<string, PinRejection | null>();
  for (const { actor, time, payload } of events) {
    const { approved = [], rejected = [] } = readJson(payloads, payload);
    for (const { fingerprint } of approved) if (fingerprint && !last.has(fingerprint)) last.set(fingerprint, null);
    for (const { fingerprint } of rejected) if (fingerprint && !last.has(fingerprint)) last.set(fingerprint, { actor, at: time });
  }
  return new Map([...last].flatMap(([fingerprint, rejection]) => (rejection ? [[fingerprint, rejection] as const] : [])));
}
