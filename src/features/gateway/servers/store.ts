import { z } from 'zod';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import type { Json } from '../../../kernel/relay.ts';
import type { Db } from '../../../storage/engine.ts';
import { deleteRows, findRows, readJson, saveRows } from '../../../storage/rows.ts';
import type { UpstreamPinRow } from '../../../storage/schema-rows.ts';
import { PIN_KINDS } from './contract.ts';

const json = z.record(z.string(), z.unknown());
const leftOut = z.object({ kind: z.enum(PIN_KINDS), name: z.string(), reason: z.enum(['duplicate', 'invalid']) });
/** A definition that a server lists but that has no pin, because its name occurs twice or because it is invalid. */
export type LeftOut = Readonly<z.output<typeof leftOut>>;

const upstreamFacts = z.object({
  protocolVersion: z.string(),
  capabilities: json,
  serverInfo: json.nullable(),
  resources: z.array(json).readonly(),
  resourceTemplates: z.array(json).readonly(),
});
/** What a server says about itself, and its resources. They need no approval, because resources change as often as data. */
export type UpstreamFacts = Readonly<z.output<typeof upstreamFacts>>;

/** Everything that a server lists, from all pages. */
export interface ServerListing {
  readonly facts: UpstreamFacts;
  readonly tools: readonly Json[];
  readonly prompts: readonly Json[];
}

const keptFacts = upstreamFacts.extend({ leftOut: z.array(leftOut) });
/** The facts about a server, and those definitions of its last listing that have no pin. */
export type KeptFacts = Readonly<z.output<typeof keptFacts>>;

export const factsText = (facts: KeptFacts): string => JSON.stringify(facts);
export const readFacts = (text: string): KeptFacts => readJson(keptFacts, text);

/**
 * A definition in its approved form and in the form that the server lists now. `approved` is null if it was never approved, and `seen` is null if
 * the server no longer lists it. `exposed` is empty if another definition has the name.
 */
export type Pin = Readonly<Omit<UpstreamPinRow, 'workspace_id' | 'approved' | 'seen'> & { approved: Json | null; seen: Json | null }>;

/** Reads the pins of one server, or of all servers. */
export async function readPins(db: Db, server?: string): Promise<Pin[]> {
  const order = { server: 'asc', kind: 'asc', name: 'asc' } as const;
  return (await findRows(db, 'upstream_pins', { workspace_id: DEFAULT_WORKSPACE_ID, server }, { order })).map(toPin);
}

export type HeldName = Pick<Pin, 'server' | 'kind' | 'exposed'>;

export const savePins = (db: Db, pins: readonly Pin[]) => saveRows(db, 'upstream_pins', ['workspace_id', 'server', 'kind', 'name'], pins.map(toRow));

export async function removePins(db: Db, pins: readonly Pin[]): Promise<void> {
  for (const { server, kind, name } of pins) await deleteRows(db, 'upstream_pins', { workspace_id: DEFAULT_WORKSPACE_ID, server, kind, name });
}

export async function removeUpstream(db: Db, server: string): Promise<void> {
  await deleteRows(db, 'upstream_pins', { workspace_id: DEFAULT_WORKSPACE_ID, server });
  await deleteRows(db, 'upstreams', { workspace_id: DEFAULT_WORKSPACE_ID, name: server });
}

const toPin = ({ workspace_id: _, approved, seen, ...row }: UpstreamPinRow): Pin => ({
  ...row,
  approved: approved === null ? null : readJson(json, approved),
  seen: seen === null ? null : readJson(json, seen),
});

const toRow = ({ approved, seen, ...pin }: Pin): UpstreamPinRow => ({
  ...pin,
  workspace_id: DEFAULT_WORKSPACE_ID,
  approved: approved && JSON.stringify(approved),
  seen: seen && JSON.stringify(seen),
});
