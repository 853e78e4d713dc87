import { z } from 'zod';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/workspace.ts';
import { chunks } from '../../../storage/chunks.ts';
import { readJson } from '../../../storage/columns.ts';
import type { Db } from '../../../storage/engine.ts';
import type { UpstreamPinRow } from '../../../storage/schema-rows.ts';
import type { UpstreamFacts } from './pages.ts';
import type { LeftOut, Pin } from './pins.ts';
import { PIN_KINDS, type PinKind } from './pins.ts';

const json = z.record(z.string(), z.unknown());
const keptFacts = z.object({
  protocolVersion: z.string(),
  capabilities: json,
  serverInfo: json.nullable(),
  resources: z.array(json),
  resourceTemplates: z.array(json),
  leftOut: z.array(z.object({ kind: z.enum(PIN_KINDS), name: z.string(), reason: z.enum(['duplicate', 'invalid']) })),
});
/** What is not pinned, and what of the last listing could not be. */
export type KeptFacts = UpstreamFacts & { readonly leftOut: readonly LeftOut[] };

export const factsText = (facts: KeptFacts): string => JSON.stringify(facts);
export const readFacts = (text: string): KeptFacts => readJson(keptFacts, text);

export async function allUpstreams(db: Db): Promise<{ name: string; facts: string }[]> {
  return await db.selectFrom('upstreams').select(['name', 'facts']).where('workspace_id', '=', DEFAULT_WORKSPACE_ID).orderBy('name').execute();
}

export async function findUpstream(db: Db, name: string): Promise<{ facts: string } | undefined> {
  return await db.selectFrom('upstreams').select('facts').where('workspace_id', '=', DEFAULT_WORKSPACE_ID).where('name', '=', name).executeTakeFirst();
}

export async function saveUpstream(db: Db, name: string, facts: string, now: number): Promise<void> {
  await db
    .insertInto('upstreams')
    .values({ workspace_id: DEFAULT_WORKSPACE_ID, name, facts, first_seen_at: now })
    .onConflict((c) => c.columns(['workspace_id', 'name']).doUpdateSet({ facts }))
    .execute();
}

/** Of all servers, or of one. */
export async function readPins(db: Db, server?: string): Promise<Pin[]> {
  const rows = await db
    .selectFrom('upstream_pins')
    .selectAll()
    .where('workspace_id', '=', DEFAULT_WORKSPACE_ID)
    .$if(server !== undefined, (query) => query.where('server', '=', server as string))
    .orderBy('server')
    .orderBy('kind')
    .orderBy('name')
    .execute();
  return rows.map(toPin);
}

export interface HeldName {
  readonly server: string;
  readonly kind: PinKind;
  readonly exposed: string;
}

export async function heldNames(db: Db): Promise<HeldName[]> {
  return await db
    .selectFrom('upstream_pins')
    .select(['server', 'kind', 'exposed'])
    .where('workspace_id', '=', DEFAULT_WORKSPACE_ID)
    .where('exposed', '<>', '')
    .execute();
}

const ROWS = 50;

export async function savePins(db: Db, pins: readonly Pin[]): Promise<void> {
  for (const some of chunks(pins, ROWS)) {
    await db
      .insertInto('upstream_pins')
      .values(some.map(toRow))
      .onConflict((c) =>
        c.columns(['workspace_id', 'server', 'kind', 'name']).doUpdateSet((eb) => ({
          exposed: eb.ref('excluded.exposed'),
          approved: eb.ref('excluded.approved'),
          approved_hash: eb.ref('excluded.approved_hash'),
          approved_at: eb.ref('excluded.approved_at'),
          approved_by: eb.ref('excluded.approved_by'),
          seen: eb.ref('excluded.seen'),
          seen_hash: eb.ref('excluded.seen_hash'),
          seen_at: eb.ref('excluded.seen_at'),
        })),
      )
      .execute();
  }
}

export async function removePins(db: Db, pins: readonly Pin[]): Promise<void> {
  for (const { server, kind, name } of pins) {
    await db
      .deleteFrom('upstream_pins')
      .where('workspace_id', '=', DEFAULT_WORKSPACE_ID)
      .where('server', '=', server)
      .where('kind', '=', kind)
      .where('name', '=', name)
      .execute();
  }
}

export async function removeUpstream(db: Db, server: string): Promise<void> {
  await db.deleteFrom('upstream_pins').where('workspace_id', '=', DEFAULT_WORKSPACE_ID).where('server', '=', server).execute();
  await db.deleteFrom('upstreams').where('workspace_id', '=', DEFAULT_WORKSPACE_ID).where('name', '=', server).execute();
}

/** Whether the journal has an event of one of the kinds after `after`, by whichever process. */
export async function hasEventSince(db: Db, after: number, kinds: readonly string[]): Promise<boolean> {
  const found = await db
    .selectFrom('events')
    .select('seq')
    .where('workspace_id', '=', DEFAULT_WORKSPACE_ID)
    .where('seq', '>', after)
    .where('kind', 'in', kinds)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

const toPin = (row: UpstreamPinRow): Pin => ({
  server: row.server,
  kind: row.kind,
  name: row.name,
  exposed: row.exposed,
  approved: row.approved === null ? null : readJson(json, row.approved),
  approvedHash: row.approved_hash,
  approvedAt: row.approved_at,
  approvedBy: row.approved_by,
  seen: row.seen === null ? null : readJson(json, row.seen),
  seenHash: row.seen_hash,
  seenAt: row.seen_at,
});

const toRow = (pin: Pin): UpstreamPinRow => ({
  workspace_id: DEFAULT_WORKSPACE_ID,
  server: pin.server,
  kind: pin.kind,
  name: pin.name,
  exposed: pin.exposed,
  approved: pin.approved && JSON.stringify(pin.approved),
  approved_hash: pin.approvedHash,
  approved_at: pin.approvedAt,
  approved_by: pin.approvedBy,
  seen: pin.seen && JSON.stringify(pin.seen),
  seen_hash: pin.seenHash,
  seen_at: pin.seenAt,
});
