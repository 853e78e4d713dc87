import type { Json } from '../../../kernel/relay.ts';
import type { PinKind } from './contract.ts';
import { type ServerEntry, shareWorkspace } from './entry.ts';
import { exposedName, foldedName } from './names.ts';
import { asListed, type ListedDefinitions, reasonOf, type WithheldDefinition, withheldOf } from './pins.ts';
import type { HeldName, KeptFacts, Pin } from './store.ts';

export interface OfferedDefinition {
  readonly entry: ServerEntry;
  /** The name that the server itself uses. */
  readonly name: string;
  readonly exposed: string;
  /** The approved definition. Its `name` is the exposed name. */
  readonly definition: Json;
}

/** What is stored about one server. */
export interface KnownServer {
  readonly facts: KeptFacts;
  readonly factsText: string;
  readonly pins: readonly Pin[];
  /** What the server lists now. Set only if this process runs the server. */
  readonly listed?: ListedDefinitions | undefined;
}

/** What is offered, computed from the file and the store. It is computed again when one of them changes, because every call uses it. */
export interface ServerOffer {
  /** Sorted by name. */
  readonly tools: readonly OfferedDefinition[];
  readonly prompts: readonly OfferedDefinition[];
  /**
   * For each exposed name, the withheld definitions of all servers that have or want the name. The definition that has the name comes first, because
   * calls refer to it.
   */
  readonly withheld: Readonly<Record<PinKind, ReadonlyMap<string, readonly WithheldDefinition[]>>>;
  readonly withheldByServer: ReadonlyMap<string, readonly WithheldDefinition[]>;
  /** A text for each server that changes whenever the offer of that server changes. */
  readonly stamps: Readonly<Record<'tools' | 'prompts' | 'resources', ReadonlyMap<string, string>>>;
  readonly entries: readonly ServerEntry[];
}

export const NO_OFFER: ServerOffer = {
  tools: [],
  prompts: [],
  withheld: { tool: new Map(), prompt: new Map() },
  withheldByServer: new Map(),
  stamps: { tools: new Map(), prompts: new Map(), resources: new Map() },
  entries: [],
};

export function offerOf(entries: readonly ServerEntry[], known: ReadonlyMap<string, KnownServer>, isNative: (exposed: string) => boolean): ServerOffer {
  const names = new OfferedNames(entries, known, isNative);
  const offered: Record<PinKind, OfferedDefinition[]> = { tool: [], prompt: [] };
  const withheld = { tool: new Map<string, WithheldDefinition[]>(), prompt: new Map<string, WithheldDefinition[]>() };
  const withheldByServer = new Map<string, readonly WithheldDefinition[]>();
  const stamps = { tool: new Map<string, string>(), prompt: new Map<string, string>(), resource: new Map<string, string>() };
  for (const entry of entries) {
    const server = known.get(entry.name);
    const stamp = (kind: keyof typeof stamps, shown: string) =>
      void stamps[kind].set(entry.name, `${stamps[kind].get(entry.name) ?? entry.workspaces.join(' ')}\n${shown}`);
    if (entry.enabled) stamp('resource', `${entry.prefix} ${server?.factsText}`);
    if (!entry.enabled || !server) continue;
    const pins = asListed(server.pins, server.listed)
      .filter(({ name }) => isChosen(entry, name))
      .map((pin) => ({ ...pin, exposed: names.offeredName(pin, entry) }));
    for (const pin of pins) {
      if (reasonOf(pin) || !pin.approved) continue;
      offered[pin.kind].push({ entry, name: pin.name, exposed: pin.exposed, definition: { ...pin.approved, name: pin.exposed } });
      stamp(pin.kind, `${pin.exposed} ${pin.approved_hash}`);
    }
    const leftOut = server.facts.leftOut.filter(({ name }) => isChosen(entry, name));
    const ours = withheldOf(pins, leftOut, { server: entry.name, prefix: entry.prefix });
    withheldByServer.set(entry.name, ours);
    for (const one of ours) {
      if (one.reason === 'duplicate' || one.reason === 'invalid') continue;
      const others = withheld[one.kind].get(one.exposed) ?? [];
      withheld[one.kind].set(one.exposed, one.reason === 'name_taken' ? [...others, one] : [one, ...others]);
    }
  }
  return {
    tools: sorted(offered.tool),
    prompts: sorted(offered.prompt),
    withheld,
    withheldByServer,
    stamps: { tools: stamps.tool, prompts: stamps.prompt, resources: stamps.resource },
    entries,
  };
}

export const isChosen = ({ include, exclude }: ServerEntry, name: string): boolean => (include?.includes(name) ?? true) && !exclude.includes(name);

const sorted = (list: OfferedDefinition[]): OfferedDefinition[] => list.sort((a, b) => (a.exposed < b.exposed ? -1 : 1));

const keyOf = (kind: PinKind, exposed: string): string => `${kind} ${foldedName(exposed)}`;

/** For each exposed name, the servers that have a pin with this name. */
type Holders = ReadonlyMap<string, readonly string[]>;

export function holdersOf(names: Iterable<HeldName>): Holders {
  const holders = new Map<string, string[]>();
  for (const { server, kind, exposed } of names) {
    if (exposed) holders.set(keyOf(kind, exposed), [...(holders.get(keyOf(kind, exposed)) ?? []), server]);
  }
  return holders;
}

/**
 * Whether the name is reserved for another server that serves one of the same workspaces. A server that was removed from the file keeps its names
 * until it is forgotten.
 */
export function isHeld(holders: Holders, entries: readonly ServerEntry[], entry: ServerEntry, kind: PinKind, exposed: string): boolean {
  const servers = holders.get(keyOf(kind, exposed)) ?? [];
  if (servers.includes(entry.name)) return false;
  return servers.some((server) => {
    const other = entries.find(({ name }) => name === server);
    return !other || shareWorkspace(entry, other);
  });
}

/** Decides under which names the definitions are offered now. */
class OfferedNames {
  readonly #entries: readonly ServerEntry[];
  readonly #isNative: (exposed: string) => boolean;
  readonly #holders: Holders;
  /** For each exposed name, the entries that offer something under this name. */
  readonly #offering = new Map<string, ServerEntry[]>();

  constructor(entries: readonly ServerEntry[], known: ReadonlyMap<string, KnownServer>, isNative: (exposed: string) => boolean) {
    this.#entries = entries;
    this.#isNative = isNative;
    this.#holders = holdersOf([...known.values()].flatMap(({ pins }) => pins));
    for (const entry of entries.filter(({ enabled }) => enabled))
      for (const pin of known.get(entry.name)?.pins ?? []) if (isChosen(entry, pin.name) && pin.exposed === wantedName(entry, pin)) this.#offer(pin, entry);
  }

  /**
   * Returns the pinned name or, if `prefix` was changed since, the new name. Returns an empty text if another server has the name. Two servers in
   * different workspaces can have the same name. If they are later given a common workspace, both lose the name, because a grant there was meant for
   * only one of them.
   */
  offeredName(pin: Pin, entry: ServerEntry): string {
    const wanted = wantedName(entry, pin);
    if (pin.exposed === '' || (pin.kind === 'tool' && this.#isNative(wanted))) return '';
    const others = this.#offering.get(keyOf(pin.kind, wanted)) ?? [];
    if (others.some((other) => other !== entry && shareWorkspace(other, entry))) return '';
    if (pin.exposed === wanted) return wanted;
    if (others.includes(entry) || isHeld(this.#holders, this.#entries, entry, pin.kind, wanted)) return '';
    this.#offer(pin, entry);
    return wanted;
  }

  #offer(pin: Pin, entry: ServerEntry): void {
    const key = keyOf(pin.kind, wantedName(entry, pin));
    this.#offering.set(key, [...(this.#offering.get(key) ?? []), entry]);
  }
}

const wantedName = ({ name, prefix }: ServerEntry, pin: Pin): string => exposedName(name, pin.name, prefix);
