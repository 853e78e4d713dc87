import type { Json } from '../../kernel/relay.ts';
import type { Entry } from './entry.ts';
import { exposedName, foldedName } from './names.ts';
import { asTold, type Pin, reasonOf, type Told, type Withheld, withheldOf } from './pins.ts';
import type { KeptFacts } from './store.ts';
import type { PinKind } from './tables.ts';

export interface OfferedDefinition {
  readonly entry: Entry;
  /** As the server calls it. */
  readonly name: string;
  readonly exposed: string;
  /** As it was approved, under the name as it is offered. */
  readonly definition: Json;
}

/** What is known of one server, as the store has it. */
export interface KnownServer {
  readonly facts: KeptFacts;
  readonly factsText: string;
  readonly pins: readonly Pin[];
  /** Set where this process runs it. */
  readonly told?: Told | undefined;
}

/** What follows from the file and from what is known: looked up on every call, made anew when either changes. */
export interface Offer {
  /** By name. */
  readonly tools: readonly OfferedDefinition[];
  readonly prompts: readonly OfferedDefinition[];
  readonly withheld: Readonly<Record<PinKind, ReadonlyMap<string, Withheld>>>;
  readonly withheldByServer: ReadonlyMap<string, readonly Withheld[]>;
  /** By server: two offers of the same stamps show the same of it. */
  readonly stamps: Readonly<Record<'tools' | 'prompts' | 'resources', ReadonlyMap<string, string>>>;
  readonly entries: readonly Entry[];
}

export const NOTHING: Offer = {
  tools: [],
  prompts: [],
  withheld: { tool: new Map(), prompt: new Map() },
  withheldByServer: new Map(),
  stamps: { tools: new Map(), prompts: new Map(), resources: new Map() },
  entries: [],
};

export function offerOf(entries: readonly Entry[], known: ReadonlyMap<string, KnownServer>, isNative: (exposed: string) => boolean): Offer {
  const held = holdersOf(known);
  const offered: Record<PinKind, OfferedDefinition[]> = { tool: [], prompt: [] };
  const withheld = { tool: new Map<string, Withheld>(), prompt: new Map<string, Withheld>() };
  const withheldByServer = new Map<string, readonly Withheld[]>();
  const stamps = { tool: new Map<string, string>(), prompt: new Map<string, string>(), resource: new Map<string, string>() };
  const claimed = new Set<string>();
  for (const entry of entries) {
    const server = known.get(entry.name);
    const stamp = (kind: keyof typeof stamps, shown: string) =>
      void stamps[kind].set(entry.name, `${stamps[kind].get(entry.name) ?? entry.workspaces.join(' ')}\n${shown}`);
    if (entry.enabled) stamp('resource', `${entry.prefix} ${server?.factsText}`);
    if (!entry.enabled || !server) continue;
    const pins = asTold(server.pins, server.told)
      .filter(({ name }) => isChosen(entry, name))
      .map((pin) => ({ ...pin, exposed: nameNow(pin, entry, held, claimed, isNative) }));
    for (const pin of pins) {
      if (reasonOf(pin) || !pin.approved) continue;
      offered[pin.kind].push({ entry, name: pin.name, exposed: pin.exposed, definition: { ...pin.approved, name: pin.exposed } });
      stamp(pin.kind, `${pin.exposed} ${pin.approvedHash}`);
    }
    const leftOut = server.facts.leftOut.filter(({ name }) => isChosen(entry, name));
    const ours = withheldOf(pins, leftOut, { server: entry.name, prefix: entry.prefix });
    withheldByServer.set(entry.name, ours);
    for (const one of ours) {
      if (one.reason === 'duplicate' || one.reason === 'invalid') continue;
      // Whoever has the name is who is meant by it.
      if (one.reason !== 'name_taken' || !withheld[one.kind].has(one.exposed)) withheld[one.kind].set(one.exposed, one);
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

export const isChosen = ({ include, exclude }: Entry, name: string): boolean => (include?.includes(name) ?? true) && !exclude.includes(name);

const sorted = (list: OfferedDefinition[]): OfferedDefinition[] => list.sort((a, b) => (a.exposed < b.exposed ? -1 : 1));

/** Which server has which name, by the names as they were pinned. */
export function holdersOf(known: ReadonlyMap<string, KnownServer>): ReadonlyMap<string, string> {
  const holders = new Map<string, string>();
  for (const [server, { pins }] of known) for (const { kind, exposed } of pins) if (exposed) holders.set(`${kind} ${foldedName(exposed)}`, server);
  return holders;
}

/** As it was pinned. Where `prefix` has been changed since: as it will be pinned, if nobody has that name or has claimed it just now. */
function nameNow(
  pin: Pin,
  { name: server, prefix }: Entry,
  held: ReadonlyMap<string, string>,
  claimed: Set<string>,
  isNative: (exposed: string) => boolean,
): string {
  const wanted = exposedName(server, pin.name, prefix);
  if (pin.kind === 'tool' && isNative(wanted)) return '';
  if (pin.exposed === '' || pin.exposed === wanted) return pin.exposed;
  const key = `${pin.kind} ${foldedName(wanted)}`;
  if ((held.get(key) ?? server) !== server || claimed.has(key)) return '';
  claimed.add(key);
  return wanted;
}
