import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Db } from '../engine.ts';
import { StoreError } from '../errors.ts';
import { type ChainPoint, readAnchor, readEnd, readHead } from '../journal.ts';
import { chunks } from '../rows.ts';
import { AnchorCheck, type AnchorReport, unsignedCut, withForged } from './check.ts';
import { AnchorLines, type AnchorPoint, anchorFolder, anchorPath, type KeptAnchors } from './file.ts';
import { currentKey, rotateKey } from './keys.ts';
import { appendLine, readLines } from './lines.ts';
import { type AnchorRecord, digestOf, FIRST, signAnchor, type UnsignedAnchor } from './record.ts';

/** The journal no longer matches its last anchor. No new anchor is written, because it would hide the mismatch. */
export class AnchorMismatch extends StoreError {
  override readonly name = 'AnchorMismatch';
}

export interface WrittenAnchor {
  readonly record: AnchorRecord;
  readonly publicKey: string;
  readonly path: string;
}

/** Reads and writes the anchors of one home. Only one process writes at a time: the server, or a command while no server is running. */
export class AnchorKeeper {
  readonly folder: string;
  readonly #keyPath: string;
  readonly #read = new Map<string, { size: number; kept: KeptAnchors }>();
  readonly #reading = new Map<string, Promise<KeptAnchors>>();

  /** `keyFile`: path of the private key, if the key is not in the home. */
  constructor(home: string, keyFile: string | undefined) {
    this.folder = anchorFolder(home);
    this.#keyPath = keyFile ?? join(this.folder, 'anchor.key');
  }

  async last(workspace: string): Promise<AnchorPoint | undefined> {
    return (await this.#kept(workspace)).points.at(-1);
  }

  has(workspace: string): boolean {
    return existsSync(anchorPath(this.folder, workspace));
  }

  /** Writes an anchor for the last event of the journal. Returns undefined if the journal is empty. */
  async anchor(db: Db, workspace: string, now: number): Promise<WrittenAnchor | undefined> {
    // This must be read before the anchors, because a prune is signed before it is carried out.
    const pruned = await readAnchor(db, workspace);
    const { points, cuts } = await this.#kept(workspace);
    const last = points.at(-1);
    if (!last) await this.#acceptCut(db, workspace, now);
    else {
      const cut = unsignedCut(pruned, cuts);
      if (cut) throw new AnchorMismatch(`in the journal of ${workspace} ${cut.reason}`);
      // A prune by the server always leaves an anchor at or after the last pruned event.
      if (last.seq < pruned.seq || (await this.#agreeing(db, workspace, [last])).length === 0)
        throw new AnchorMismatch(`the journal of ${workspace} does not agree with its anchor at event ${last.seq}`);
    }
    return await this.#write(db, workspace, { kind: 'anchor', at: now });
  }

  /**
   * Records that the events up to this one are about to be pruned. The record is signed before the prune. If the server crashes in between, there is an
   * unneeded record, but never a prune without a signature.
   */
  async pruning(db: Db, workspace: string, { seq, hash }: ChainPoint, now: number): Promise<void> {
    const event = await db.selectFrom('events').select('time').where('workspace_id', '=', workspace).where('seq', '=', seq).executeTakeFirst();
    if (event) await this.#sign(workspace, { kind: 'pruned', at: now, seq, hash, time: Number(event.time) });
  }

  /** Records that the store was replaced. Anchors that match the new store stay valid. */
  async replaced(db: Db, workspace: string, kind: 'restored' | 'imported', now: number): Promise<WrittenAnchor> {
    const agreeing = await this.#agreeing(db, workspace, (await this.#kept(workspace)).points);
    const keeps = agreeing.reduce((most, { seq }) => Math.max(most, seq), 0);
    const empty = { kind, at: now, keeps: 0, seq: 0, hash: FIRST, time: 0 };
    const written = (await this.#write(db, workspace, { kind, at: now, keeps })) ?? (await this.#sign(workspace, empty));
    await this.#acceptCut(db, workspace, now);
    return written;
  }

  /** Checks whether the journal matches all anchors of this home. Reads only the anchored events, not the whole journal. */
  async check(db: Db, workspace: string): Promise<AnchorReport> {
    const pruned = await readAnchor(db, workspace);
    const { points, cuts, forged } = await this.#kept(workspace);
    const agreeing = new Set(await this.#agreeing(db, workspace, points));
    const broken = points.find((point) => !agreeing.has(point));
    const check = new AnchorCheck(points);
    const younger = broken && (await firstYounger(db, workspace, broken));
    const seen = [...agreeing, ...(younger ? [younger] : [])].toSorted((a, b) => a.seq - b.seq);
    for (const event of seen) check.add(event);
    return withForged(check.finish(await readHead(db, workspace), pruned, cuts), forged);
  }

  rotate(now: number): { key: string; previous: string } {
    return rotateKey(this.folder, this.#keyPath, now);
  }

  async #write(db: Db, workspace: string, what: Pick<UnsignedAnchor, 'kind' | 'at' | 'keeps'>): Promise<WrittenAnchor | undefined> {
    const end = await readEnd(db, workspace);
    if (!end) return undefined;
    const { seq, hash, time } = end;
    if (time === null) throw new AnchorMismatch(`event ${seq}, the end of the journal of ${workspace}, is missing`);
    return await this.#sign(workspace, { ...what, seq, hash, time });
  }

  /** Signs the point at which the journal begins now. Called if there was no anchor before, or if the operator has replaced the store. */
  async #acceptCut(db: Db, workspace: string, at: number): Promise<void> {
    const row = await db.selectFrom('journal_anchors').select(['seq', 'hash', 'time']).where('workspace_id', '=', workspace).executeTakeFirst();
    if (row && unsignedCut(row, (await this.#kept(workspace)).cuts)) await this.#sign(workspace, { ...row, kind: 'pruned', at });
  }

  async #sign(workspace: string, what: Omit<UnsignedAnchor, 'workspace'>): Promise<WrittenAnchor> {
    await this.#kept(workspace);
    const kept = this.#read.get(workspace)?.kept as KeptAnchors;
    // The code below must not await anything. Otherwise another anchor could be written in between.
    const key = currentKey(this.folder, this.#keyPath, what.at);
    const path = anchorPath(this.folder, workspace);
    const { record, line } = signAnchor({ ...what, workspace }, kept.lastDigest, key);
    appendLine(path, line);
    if (record.kind === 'anchor')
      this.#read.set(workspace, { size: statSync(path).size, kept: { ...kept, points: [...kept.points, record], lastDigest: digestOf(line) } });
    return { record, publicKey: key.publicKey, path };
  }

  /** Returns the anchors that match the journal. An anchor of a pruned event matches if the prune was signed. */
  async #agreeing(db: Db, workspace: string, points: readonly AnchorPoint[]): Promise<AnchorPoint[]> {
    const pruned = await readAnchor(db, workspace);
    const isSigned = unsignedCut(pruned, (await this.#kept(workspace)).cuts) === null;
    const hashes = new Map([[pruned.seq, pruned.hash]]);
    for (const some of chunks(
      points.map(({ seq }) => seq),
      500,
    )) {
      const rows = await db.selectFrom('events').select(['seq', 'hash']).where('workspace_id', '=', workspace).where('seq', 'in', some).execute();
      for (const { seq, hash } of rows) hashes.set(Number(seq), hash);
    }
    return points.filter(({ seq, hash }) => (isSigned && seq < pruned.seq) || hashes.get(seq) === hash);
  }

  /** Reads the anchor file again only if it has changed. Concurrent callers share one read. */
  async #kept(workspace: string): Promise<KeptAnchors> {
    const known = this.#read.get(workspace);
    if (known?.size === sizeOf(anchorPath(this.folder, workspace))) return known.kept;
    const reading = this.#reading.get(workspace) ?? this.#readAll(workspace).finally(() => this.#reading.delete(workspace));
    this.#reading.set(workspace, reading);
    return await reading;
  }

  async #readAll(workspace: string): Promise<KeptAnchors> {
    const path = anchorPath(this.folder, workspace);
    const size = sizeOf(path);
    const lines = new AnchorLines(this.folder, workspace);
    for (const [index, line] of readLines(path).entries()) {
      lines.add(line);
      // Verifying signatures blocks the thread, so the loop pauses regularly to let other work run.
      if (index % CHECKED_AT_ONCE === 0) await yieldToEventLoop();
    }
    this.#read.set(workspace, { size, kept: lines.kept });
    return lines.kept;
  }
}

const CHECKED_AT_ONCE = 50;
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Finds an event before the anchored one that has a later time. Times in a journal never decrease, so such an event was written in place of the original one.
 */
async function firstYounger(db: Db, workspace: string, { seq, time }: AnchorPoint) {
  const events = db.selectFrom('events').select(['seq', 'hash', 'time']).where('workspace_id', '=', workspace).where('seq', '<=', seq);
  return await events.where('time', '>', time).orderBy('seq').limit(1).executeTakeFirst();
}
