import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ChainPoint } from '../journal.ts';
import { type KnownKeys, readKeys } from './keys.ts';
import { type ReadLine, readLines } from './lines.ts';
import { type AnchorRecord, digestOf, FIRST, hasValidSignature, parseAnchor } from './record.ts';

export const anchorFolder = (home: string): string => join(home, 'anchors');
export const anchorPath = (folder: string, workspace: string): string => join(folder, `${workspaceNameOf(workspace)}.jsonl`);

const OF_WORKSPACE = /^([a-z0-9][a-z0-9-]{0,39})\.jsonl$/;

/** Returns the workspaces that have an anchor file in the folder. */
export const anchoredWorkspaces = (folder: string): string[] =>
  readdirSync(folder)
    .flatMap((name) => OF_WORKSPACE.exec(name)?.slice(1) ?? [])
    .map((name) => `ws_${name}`);

export const isAnchorFile = (name: string): boolean => name === 'anchor.key' || name === 'anchor.keys.jsonl' || OF_WORKSPACE.test(name);

/** An event and its hash, recorded in an anchor. The journal must still contain that event with the same hash. */
export type AnchorPoint = Pick<AnchorRecord, 'seq' | 'hash' | 'time' | 'at'>;

export interface KeptAnchors {
  /** The anchors with a valid signature, sorted by `seq`. */
  readonly points: readonly AnchorPoint[];
  /** The prunes that the server signed. If a journal begins at any other point, somebody else removed the events before it. */
  readonly cuts: readonly ChainPoint[];
  /** Lines without a valid signature by one of this home's keys. */
  readonly forged: readonly { readonly seq: number; readonly reason: string }[];
  /** Notes for the person who verifies the journal. They are not errors. */
  readonly notices: readonly string[];
  /** The digest of the last line that could be parsed. */
  readonly lastDigest: string;
}

/** Reads a workspace's anchors from this home line by line, so that a large file is not loaded into memory at once. */
export class AnchorLines {
  readonly #path: string;
  readonly #workspace: string;
  readonly #keys: KnownKeys;
  readonly #notices: string[];
  readonly #forged: { seq: number; reason: string }[] = [];
  readonly #digests = new Set([FIRST]);
  #points: AnchorPoint[] = [];
  #cuts: ChainPoint[] = [];
  #lastDigest = FIRST;

  constructor(folder: string, workspace: string) {
    this.#path = anchorPath(folder, workspace);
    this.#workspace = workspace;
    this.#keys = readKeys(folder);
    this.#notices = [...this.#keys.notices];
  }

  add({ number, text, value }: ReadLine): void {
    if (value === undefined) return void this.#notices.push(`${this.#path}, line ${number}: incomplete, skipped`);
    const record = parseAnchor(value);
    const problem = this.#wrongWith(record);
    if (!record || problem !== undefined) return void this.#forged.push({ seq: record?.seq ?? 0, reason: `${this.#path}, line ${number}: ${problem}` });
    this.#lastDigest = digestOf(text);
    this.#digests.add(this.#lastDigest);
    if (record.kind === 'pruned') return void this.#cuts.push(record);
    if (record.kind !== 'anchor') {
      this.#points = setAside(record, this.#points, this.#notices);
      this.#cuts = this.#cuts.filter(({ seq }) => seq <= (record.keeps ?? 0));
    }
    if (record.seq > 0) this.#points.push(record);
  }

  get kept(): KeptAnchors {
    const points = this.#points.toSorted((a, b) => a.seq - b.seq || a.at - b.at);
    return { points, cuts: this.#cuts, forged: this.#forged, notices: this.#notices, lastDigest: this.#lastDigest };
  }

  #wrongWith(record: AnchorRecord | undefined): string | undefined {
    if (record?.workspace !== this.#workspace) return 'not an anchor of this workspace';
    if (!hasValidSignature(record, this.#keys.publicKeys)) return `the signature by key ${record.key} is invalid`;
    return this.#digests.has(record.previous) ? undefined : 'the line before it is missing';
  }
}

export function readAnchorFile(folder: string, workspace: string): KeptAnchors {
  const lines = new AnchorLines(folder, workspace);
  for (const line of readLines(anchorPath(folder, workspace))) lines.add(line);
  return lines.kept;
}

const SAID = { restored: 'a backup was restored', imported: 'a workspace was imported' } as const;

/** When the operator restores or imports the store, events disappear. Drops the anchors of those events. */
function setAside({ kind, at, keeps = 0 }: AnchorRecord, points: readonly AnchorPoint[], notices: string[]): AnchorPoint[] {
  const gone = points.filter(({ seq }) => seq > keeps);
  const last = gone.reduce((most, { seq }) => Math.max(most, seq), 0);
  if (last > 0) notices.push(`${new Date(at).toISOString()}: ${SAID[kind as keyof typeof SAID]}; the earlier events ${keeps + 1} to ${last} were replaced`);
  return points.filter(({ seq }) => seq <= keeps);
}

/** Workspace names contain only lower-case letters, digits and dashes, so they can be used in file names unchanged. */
export function workspaceNameOf(id: string): string {
  const [, name] = /^ws_([a-z0-9][a-z0-9-]{0,39})$/.exec(id) ?? [];
  if (name === undefined) throw new Error(`${JSON.stringify(id)} is not a workspace id`);
  return name;
}
