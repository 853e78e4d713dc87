import { hash } from 'node:crypto';
import type { Json } from '../../../kernel/relay.ts';
import { canonicalJson } from '../../../storage/journal.ts';
import { PIN_KINDS, type PinKind, type WithheldReason } from './contract.ts';
import { definitionHash, isUsable, type NamedDefinition, namelessHash, replaceUnseen } from './definition.ts';
import { exposedName, foldedName } from './names.ts';
import type { LeftOut, Pin, ServerListing } from './store.ts';

export interface WithheldDefinition {
  readonly server: string;
  readonly kind: PinKind;
  readonly name: string;
  /** The name under which the definition is offered, or would be offered after an approval. */
  readonly exposed: string;
  readonly reason: WithheldReason;
  readonly renamed_from: string | null;
  /** Identifies the current definition, so that an approval covers only what the person has seen. Empty if the definition cannot be approved. */
  readonly fingerprint: string;
  /** `before` is the approved definition, and `after` is the definition that waits for approval. */
  readonly before: Json | null;
  readonly after: Json | null;
}

export interface PinNaming {
  readonly server: string;
  readonly prefix: boolean;
  /** Whether a native tool or another server already uses the name. */
  isTaken(kind: PinKind, exposed: string): boolean;
}

export interface PinComparison {
  /** New and changed pins, which must be saved. */
  readonly write: readonly Pin[];
  /** Pins that were never approved and that the server no longer lists. */
  readonly remove: readonly Pin[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Compares the whole listing of a server with its stored pins. Everything in the first listing of a new server is approved automatically. Later
 * definitions need the approval of a person. A definition whose name is already used is never approved automatically: if it gets the name later,
 * existing grants for that name may have been meant for another definition.
 */
export function compareListing(
  naming: PinNaming,
  known: readonly Pin[] | undefined,
  listing: Pick<ServerListing, 'tools' | 'prompts'>,
  now: number,
): PinComparison {
  const write: Pin[] = [];
  const remove: Pin[] = [];
  const leftOut: LeftOut[] = [];
  for (const kind of PIN_KINDS) {
    const pins = new Map((known ?? []).filter((pin) => pin.kind === kind).map((pin) => [pin.name, pin]));
    const listed = usableDefinitions(kind, kind === 'tool' ? listing.tools : listing.prompts, leftOut);
    const names = new OwnNames(naming, kind, listed.keys(), pins);
    for (const [name, definition] of listed) {
      const next = updateSeen(pins.get(name) ?? unknownPin(naming.server, kind, name, now), definition, names.nameOf(name), now, known === undefined);
      if (next !== pins.get(name)) write.push(next);
    }
    for (const pin of pins.values()) {
      if (listed.has(pin.name) || pin.seen === null) continue;
      if (pin.approved === null) remove.push(pin);
      else write.push({ ...pin, seen: null, seen_hash: null, seen_at: now });
    }
  }
  return { write, remove, leftOut };
}

/** The definitions that a server lists, as this process has read them from its own process of that server. */
export type ListedDefinitions = ReadonlyMap<string, Pick<Pin, 'seen' | 'seen_hash'>>;

export function definitionsIn(listing: Pick<ServerListing, 'tools' | 'prompts'>): ListedDefinitions {
  const listed = new Map<string, Pick<Pin, 'seen' | 'seen_hash'>>();
  for (const kind of PIN_KINDS) {
    for (const [name, seen] of usableDefinitions(kind, kind === 'tool' ? listing.tools : listing.prompts, []))
      listed.set(`${kind} ${name}`, { seen, seen_hash: definitionHash(seen) });
  }
  return listed;
}

/**
 * Replaces the stored listing with the listing that this process has read itself. The store contains the listing of whichever Covenant process
 * wrote last, and that process may run another version of the server.
 */
export function asListed(pins: readonly Pin[], listed: ListedDefinitions | undefined): readonly Pin[] {
  if (!listed) return pins;
  return pins.map((pin) => {
    const now = listed.get(`${pin.kind} ${pin.name}`);
    return now?.seen_hash === pin.seen_hash ? pin : { ...pin, seen: now?.seen ?? null, seen_hash: now?.seen_hash ?? null };
  });
}

/** Selects the definitions that can be offered. If several have the same name, only the first is used. */
function usableDefinitions(kind: PinKind, definitions: readonly unknown[], leftOut: LeftOut[]): Map<string, NamedDefinition> {
  const listed = new Map<string, NamedDefinition>();
  for (const definition of definitions) {
    if (!isUsable(kind, definition)) leftOut.push({ kind, name: printableName(definition), reason: 'invalid' });
    else if (listed.has(definition.name)) leftOut.push({ kind, name: definition.name, reason: 'duplicate' });
    else listed.set(definition.name, definition);
  }
  return listed;
}

function printableName(definition: unknown): string {
  const name = (definition as { name?: unknown } | null)?.name;
  return typeof name === 'string' ? replaceUnseen(name.slice(0, 100)) : '';
}

const NOT_APPROVED = { approved: null, approved_hash: null, approved_at: null, approved_by: null };

const unknownPin = (server: string, kind: PinKind, name: string, now: number): Pin => ({
  ...{ server, kind, name, exposed: '', ...NOT_APPROVED },
  ...{ seen: null, seen_hash: null, seen_at: now },
});

/** Updates a pin with the definition that the server lists now. Returns the same object if nothing has changed. */
function updateSeen(pin: Pin, definition: NamedDefinition, exposed: string, now: number, isFirstSight: boolean): Pin {
  const seen_hash = definitionHash(definition);
  if (pin.seen_hash === seen_hash && pin.exposed === exposed) return pin;
  const seen = pin.seen_hash === seen_hash ? pin : { ...pin, seen: definition, seen_hash, seen_at: now };
  if (exposed === '') return { ...seen, ...NOT_APPROVED, exposed };
  return { ...seen, ...(isFirstSight ? { approved: definition, approved_hash: seen_hash, approved_at: now, approved_by: 'first-sight' } : {}), exposed };
}

/**
 * Assigns exposed names to the definitions of a server. A definition that already has its name keeps it. The others get free names in alphabetical
 * order.
 */
class OwnNames {
  readonly #held = new Map<string, string>();

  constructor(naming: PinNaming, kind: PinKind, listed: Iterable<string>, pins: ReadonlyMap<string, Pin>) {
    const holders = new Map<string, string>();
    const all = new Set([...listed, ...pins.keys()]);
    const wanted = [...all].map((name) => ({ name, exposed: exposedName(naming.server, name, naming.prefix) }));
    const holds = ({ name, exposed }: { name: string; exposed: string }) => pins.get(name)?.exposed === exposed;
    wanted.sort((a, b) => Number(holds(b)) - Number(holds(a)) || (a.name < b.name ? -1 : 1));
    for (const { name, exposed } of wanted) {
      const folded = foldedName(exposed);
      if (holders.has(folded) || naming.isTaken(kind, exposed)) continue;
      holders.set(folded, name);
      this.#held.set(name, exposed);
    }
  }

  nameOf(name: string): string {
    return this.#held.get(name) ?? '';
  }
}

/** The reason why a pinned definition is not offered. Undefined if it is offered. */
export function reasonOf(pin: Pin): WithheldReason | undefined {
  if (pin.seen === null) return 'gone';
  if (pin.exposed === '') return 'name_taken';
  if (pin.approved === null) return 'new';
  return pin.approved_hash === pin.seen_hash ? undefined : 'changed';
}

/** All withheld definitions of a server. If a new definition is the same as one that has disappeared, except for the name, it counts as renamed. */
export function withheldOf(pins: readonly Pin[], leftOut: readonly LeftOut[], naming: Pick<PinNaming, 'server' | 'prefix'>): WithheldDefinition[] {
  const gone = Map.groupBy(
    pins.filter((pin) => reasonOf(pin) === 'gone'),
    ({ kind, approved }) => `${kind} ${approved && namelessHash(approved)}`,
  );
  const found = pins.flatMap((pin): WithheldDefinition[] => {
    const reason = reasonOf(pin);
    if (!reason) return [];
    const from = reason === 'new' && pin.seen ? gone.get(`${pin.kind} ${namelessHash(pin.seen)}`)?.shift() : undefined;
    return [
      {
        ...shown(pin, naming),
        reason: from ? 'renamed' : reason,
        renamed_from: from?.name ?? null,
        fingerprint: reason === 'name_taken' ? '' : fingerprintOf(pin),
        before: from?.approved ?? pin.approved,
        after: pin.seen,
      },
    ];
  });
  const others = leftOut.map(({ kind, name, reason }) => ({
    server: naming.server,
    kind,
    name,
    exposed: name === '' ? '' : exposedName(naming.server, name, naming.prefix),
    reason,
    renamed_from: null,
    fingerprint: '',
    before: null,
    after: null,
  }));
  return [...found, ...others];
}

const shown = (pin: Pin, { server, prefix }: Pick<PinNaming, 'server' | 'prefix'>) => ({
  server,
  kind: pin.kind,
  name: pin.name,
  exposed: exposedName(server, pin.name, prefix),
});

/** The fingerprint covers everything that a person sees and that would be offered, including `_meta`. */
const fingerprintOf = ({ kind, seen, approved_hash }: Pin): string => hash('sha256', canonicalJson([kind, seen ?? approved_hash])).slice(0, 24);

/** Marks the definition that the server lists now as approved. */
export const approvedPin = (pin: Pin, by: string, now: number): Pin => ({
  ...pin,
  ...{ approved: pin.seen, approved_hash: pin.seen_hash, approved_at: now, approved_by: by },
});
