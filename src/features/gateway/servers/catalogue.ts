import type { Services } from '../../../kernel/call.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { notFound } from '../../../kernel/reply.ts';
import { readHead } from '../../../storage/journal.ts';
import { changeRows, findRow, findRows, hasRow, insertRows, matching } from '../../../storage/rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { PinKind } from './contract.ts';
import { appendDecision } from './decisions.ts';
import { type ServerEntry, serves } from './entry.ts';
import { nativeNames } from './names.ts';
import {
  approvedPin,
  asListed,
  compareListing,
  definitionsIn,
  type ListedDefinitions,
  type PinComparison,
  type PinNaming,
  reasonOf,
  type WithheldDefinition,
  withheldOf,
} from './pins.ts';
import { holdersOf, isChosen, isHeld, type KnownServer, NO_OFFER, type OfferedDefinition, offerOf, type ServerOffer } from './server-offer.ts';
import {
  factsText,
  type HeldName,
  type Pin,
  readFacts,
  readPins,
  removePins,
  removeUpstream,
  type ServerListing,
  savePins,
  type UpstreamFacts,
} from './store.ts';

export type { OfferedDefinition } from './server-offer.ts';

export type CatalogueChange = 'tools' | 'prompts' | 'resources';
/** `reaches` returns whether the clients of a workspace must read the lists again. */
type CatalogueListener = (kind: CatalogueChange, reaches: (workspace: string) => boolean) => void;

export interface Selection {
  /** If set, only this tool or prompt is selected. It may be given by its own name or by its exposed name. */
  readonly tool?: string | undefined;
  /** If set, only definitions with these fingerprints are selected. They are the definitions that somebody has reviewed. */
  readonly fingerprints?: readonly string[] | undefined;
}

/** The definitions that a decision applies to, and the rest of the selection. */
interface Decision {
  readonly chosen: readonly WithheldDefinition[];
  /** The selected definitions that could not be decided on. They stay withheld. */
  readonly left: readonly WithheldDefinition[];
}

/** After an event of these kinds, the stored catalogue must be read again. */
const KINDS = ['upstream.seen', 'upstream.changed', 'upstream.approved', 'upstream.forgotten'];
/** The minimum time between two reads. Without it, a busy server that writes constantly would cause constant reads. */
const PAUSE_MS = 100;

/** A copy in memory of the stored catalogue: the tools and prompts of external servers, and which of them are approved and offered. */
export class ServerCatalogue {
  readonly #services: Services;
  readonly #nativeNames: () => Iterable<string>;
  readonly #listeners = new Set<CatalogueListener>();
  #entries: readonly ServerEntry[] = [];
  #known: ReadonlyMap<string, KnownServer> = new Map();
  readonly #listed = new Map<string, ListedDefinitions>();
  #offer: ServerOffer = NO_OFFER;
  #readUpTo = 0;
  /** Reads and writes run one after the other. Otherwise the result of an older read could replace that of a newer one. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(services: Services, nativeNames: () => Iterable<string>) {
    this.#services = services;
    this.#nativeNames = nativeNames;
  }

  load(): Promise<void> {
    return this.#inTurn(() => this.#read());
  }

  /** Sets the current entries of secrets.toml. */
  configure(entries: readonly ServerEntry[]): void {
    this.#entries = entries;
    for (const name of this.#listed.keys()) if (!entries.some((entry) => entry.name === name)) this.#listed.delete(name);
    this.#rebuild();
  }

  /** The offered tools of all servers. Callers must check which workspaces each entry serves. */
  tools(): readonly OfferedDefinition[] {
    return this.#offer.tools;
  }

  prompts(): readonly OfferedDefinition[] {
    return this.#offer.prompts;
  }

  /** Finds the withheld definition with this exposed name, among the servers for which `isServed` returns true. */
  withheld(kind: PinKind, exposed: string, isServed: (server: string) => boolean = () => true): WithheldDefinition | undefined {
    return this.#offer.withheld[kind].get(exposed)?.find(({ server }) => isServed(server));
  }

  withheldOf(server: string): readonly WithheldDefinition[] {
    return this.#offer.withheldByServer.get(server) ?? [];
  }

  /** Tools that their servers list but that are not offered. */
  withheldTools(isServed: (server: string) => boolean = () => true): { name: string; server: string }[] {
    const all = [...this.#offer.withheld.tool.keys()].flatMap((name) => this.withheld('tool', name, isServed) ?? []);
    return all
      .filter(({ reason }) => reason !== 'gone')
      .map(({ exposed, server }) => ({ name: exposed, server }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  isKnown(server: string): boolean {
    return this.#known.has(server);
  }

  known(server: string): UpstreamFacts | undefined {
    return this.#known.get(server)?.facts;
  }

  /** The names in `include` and `exclude` of the entry that the server does not list. */
  notThere({ name: server, include = [], exclude }: ServerEntry): string[] {
    const pins = this.#known.get(server)?.pins;
    return pins ? [...include, ...exclude].filter((chosen) => !pins.some(({ name }) => name === chosen)) : [];
  }

  /** Stored servers that are no longer in the file. */
  unconfigured(): string[] {
    const configured = new Set(this.#entries.map(({ name }) => name));
    return [...this.#known.keys()].filter((name) => !configured.has(name));
  }

  onChange(listener: CatalogueListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stores the new listing of a server. New and changed definitions are withheld. Nothing is written if nothing has changed. */
  observe(server: string, listing: ServerListing): Promise<void> {
    return this.#inTurn(async () => {
      const entry = this.#entries.find(({ name }) => name === server);
      if (!entry) return;
      this.#listed.set(server, definitionsIn(listing));
      const known = this.#known.get(server);
      const allPins = [...this.#known.values()].flatMap(({ pins }) => pins);
      const compared = compareListing(this.#naming(entry, allPins), known?.pins, listing, this.#services.clock.now());
      if (known && !changesPins(compared) && known.factsText === textOf(listing, compared)) return this.#rebuild();
      await this.#services.store.write(DEFAULT_WORKSPACE_ID, (tx) => this.#pin(tx, entry, listing));
      await this.#read();
    });
  }

  /** Approves the selected definitions of a server as the server lists them now. */
  approve(server: string, selection: Selection, by: { readonly actor: string }): Promise<Decision> {
    return this.#decide(server, selection, (tx, decided, pins) => this.#approve(tx, server, decided, pins, by.actor));
  }

  /** Rejects the selected definitions. They stay withheld, and nobody is asked to decide again until the server changes them. */
  reject(server: string, selection: Selection, by: { readonly actor: string }): Promise<Decision> {
    return this.#decide(server, selection, async (tx, { chosen }) => appendDecision(tx, 'upstream.rejected', server, chosen, by.actor));
  }

  #decide(server: string, selection: Selection, act: (tx: Tx, decision: Decision, pins: readonly Pin[]) => Promise<void>): Promise<Decision> {
    return this.#inTurn(async () => {
      const entry = this.#entries.find(({ name }) => name === server);
      if (!entry)
        throw notFound(
          'SERVER_NOT_FOUND',
          `secrets.toml has no server named ${JSON.stringify(server)}.`,
          'Run `covenant servers list` for the names.',
          'server',
        );
      const decided = await this.#services.store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
        const pins = asListed(await readPins(tx.db, server), this.#listed.get(server)).filter(({ name }) => isChosen(entry, name));
        const selected = this.#select(entry, selection, pins);
        await act(tx, selected, pins);
        return selected;
      });
      await this.#read();
      return decided;
    });
  }

  /** Deletes everything that is stored about a server. Other servers can then use its names. If the server appears again, it counts as new. */
  forget(server: string, by: { readonly actor: string }): Promise<void> {
    return this.#inTurn(async () => {
      await this.#services.store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
        await removeUpstream(tx.db, server);
        tx.append({ category: 'audit', kind: 'upstream.forgotten', actor: by.actor, subject: `server:${server}` });
      });
      await this.#read();
    });
  }

  /** From now on, also reads the changes that other processes store. Stops when the returned function is called. */
  follow(): () => void {
    let isStopped = false;
    let isLooking = false;
    let isDue = false;
    const look = async (): Promise<void> => {
      isDue = true;
      if (isLooking || isStopped) return;
      isLooking = true;
      isDue = false;
      try {
        await this.#inTurn(() => this.#readIfNew());
      } catch (error) {
        if (!isStopped) this.#services.log.error('could not read the stored catalogue of external servers', { error });
      }
      setTimeout(() => {
        isLooking = false;
        if (isDue) void look();
      }, PAUSE_MS).unref();
    };
    const unsubscribe = this.#services.store.engine.onForeignWrite(() => void look());
    void look();
    return () => {
      isStopped = true;
      unsubscribe();
    };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }

  async #readIfNew(): Promise<void> {
    const { reader } = this.#services.store;
    const head = (await readHead(reader, DEFAULT_WORKSPACE_ID))?.seq ?? 0;
    if (await hasRow(reader, 'events', { workspace_id: DEFAULT_WORKSPACE_ID, seq: { '>': this.#readUpTo }, kind: KINDS })) await this.#read();
    this.#readUpTo = Math.max(this.#readUpTo, head);
  }

  async #read(): Promise<void> {
    const { reader } = this.#services.store;
    // The head is read first. Events that are written in between are then read twice, which is better than never.
    const head = (await readHead(reader, DEFAULT_WORKSPACE_ID))?.seq ?? 0;
    const pins = Map.groupBy(await readPins(reader), ({ server }) => server);
    const rows = await findRows(reader, 'upstreams', { workspace_id: DEFAULT_WORKSPACE_ID }, { order: { name: 'asc' } });
    this.#known = new Map(rows.map(({ name, facts }) => [name, { facts: readFacts(facts), factsText: facts, pins: pins.get(name) ?? [] }]));
    this.#readUpTo = head;
    this.#rebuild();
  }

  #rebuild(): void {
    const before = this.#offer;
    const known = new Map([...this.#known].map(([name, server]) => [name, { ...server, listed: this.#listed.get(name) }]));
    this.#offer = offerOf(this.#entries, known, nativeNames(this.#nativeNames()));
    for (const kind of ['tools', 'prompts', 'resources'] as const) {
      const [old, now] = [before.stamps[kind], this.#offer.stamps[kind]];
      const changed = new Set([...old.keys(), ...now.keys()].filter((server) => old.get(server) !== now.get(server)));
      if (changed.size === 0) continue;
      // A change concerns the workspaces that the server served before and those that it serves now.
      const concerned = [...before.entries, ...this.#entries].filter(({ name }) => changed.has(name));
      for (const listener of this.#listeners) listener(kind, (workspace) => concerned.some((entry) => serves(entry, workspace)));
    }
  }

  #naming(entry: ServerEntry, names: Iterable<HeldName>): PinNaming {
    const isNative = nativeNames(this.#nativeNames());
    const holders = holdersOf(names);
    return {
      server: entry.name,
      prefix: entry.prefix,
      isTaken: (kind, exposed) => (kind === 'tool' && isNative(exposed)) || isHeld(holders, this.#entries, entry, kind, exposed),
    };
  }

  /** Compares the listing with the store again, inside the transaction, because another process may have stored it in the meantime. */
  async #pin(tx: Tx, entry: ServerEntry, listing: ServerListing): Promise<void> {
    const { name } = entry;
    const key = { workspace_id: DEFAULT_WORKSPACE_ID, name };
    const row = await findRow(tx.db, 'upstreams', key);
    const pins = row && (await readPins(tx.db, name));
    const offered = matching(tx.db, 'upstream_pins', { workspace_id: DEFAULT_WORKSPACE_ID, exposed: { '!=': '' } });
    const held = await offered.select(['server', 'kind', 'exposed']).execute();
    const compared = compareListing(this.#naming(entry, held), pins, listing, tx.now);
    await removePins(tx.db, compared.remove);
    await savePins(tx.db, compared.write);
    const facts = textOf(listing, compared);
    if (!row) await insertRows(tx.db, 'upstreams', { ...key, facts, first_seen_at: tx.now });
    else if (row.facts !== facts) await changeRows(tx.db, 'upstreams', key, { facts });
    const event = { category: 'audit', actor: 'server', subject: `server:${name}` } as const;
    if (!row) {
      const count = (kind: PinKind) => compared.write.filter((pin) => pin.kind === kind).length;
      tx.append({ ...event, kind: 'upstream.seen', payload: { tools: count('tool'), prompts: count('prompt'), protocol: listing.facts.protocolVersion } });
    } else if (changesPins(compared)) {
      const withheld = compared.write.filter(reasonOf);
      tx.append({
        ...event,
        kind: 'upstream.changed',
        payload: { withheld: named(withheld), offered: named(compared.write.filter((pin) => !reasonOf(pin))), gone_unapproved: compared.remove.length },
      });
    }
  }

  #select(entry: ServerEntry, { tool, fingerprints }: Selection, pins: readonly Pin[]): Decision {
    const shown = withheldOf(pins, [], { server: entry.name, prefix: entry.prefix });
    const selected = shown.filter(({ name, exposed }) => tool === undefined || tool === name || tool === exposed);
    if (tool !== undefined && selected.length === 0) this.#notWithheld(entry.name, tool, pins);
    const shownFingerprints = fingerprints && new Set(fingerprints);
    const chosen = selected.filter(({ fingerprint }) => fingerprint !== '' && (shownFingerprints?.has(fingerprint) ?? true));
    return { chosen, left: selected.filter((one) => !chosen.includes(one)) };
  }

  async #approve(tx: Tx, server: string, { chosen }: Decision, pins: readonly Pin[], actor: string): Promise<void> {
    const known = new Map(pins.map((pin) => [`${pin.kind} ${pin.name}`, pin]));
    const pinOf = (kind: PinKind, name: string) => known.get(`${kind} ${name}`) as Pin;
    const { there = [], gone = [] } = Object.groupBy(chosen, ({ reason }) => (reason === 'gone' ? 'gone' : 'there'));
    const renamed = there.flatMap(({ kind, renamed_from }) => (renamed_from === null ? [] : [pinOf(kind, renamed_from)]));
    await removePins(tx.db, [...renamed, ...gone.map(({ kind, name }) => pinOf(kind, name))]);
    const approved = there.map(({ kind, name }) => approvedPin(pinOf(kind, name), actor, tx.now));
    await savePins(tx.db, approved);
    appendDecision(tx, 'upstream.approved', server, chosen, actor);
  }

  #notWithheld(server: string, tool: string, pins: readonly Pin[]): void {
    if (pins.some(({ name, exposed }) => name === tool || exposed === tool)) return;
    throw notFound(
      'TOOL_NOT_FOUND',
      `The server ${server} has no tool or prompt ${JSON.stringify(tool.slice(0, 100))}.`,
      `Run \`covenant servers list\` for the withheld names of ${server}.`,
      'tool',
    );
  }
}

const changesPins = ({ write, remove }: PinComparison): boolean => write.length > 0 || remove.length > 0;

const textOf = ({ facts }: ServerListing, { leftOut }: PinComparison): string => factsText({ ...facts, leftOut: leftOut.slice(0, MAX_NAMED) });

/** The maximum number of names in an event, so that the event does not become too large. */
const MAX_NAMED = 40;
const named = (pins: readonly Pin[]) => ({ count: pins.length, names: pins.slice(0, MAX_NAMED).map(({ kind, name }) => `${kind} ${name.slice(0, 80)}`) });
