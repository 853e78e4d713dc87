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

/** The journal no longer agrees with its last anchor. A new anchor would hide that. */
export class AnchorMismatch extends StoreError {
  override readonly name = 'AnchorMismatch';
}

export interface WrittenAnchor {
  readonly record: AnchorRecord;
  readonly publicKey: string;
  readonly path: string;
}

/** The anchors of one home. One process at a time writes them: the server, or a command while no server runs. */
export class AnchorKeeper {
  readonly folder: string;
  readonly #keyPath: string;
  readonly #read = new Map<string, { size: number; kept: KeptAnchors }>();
  readonly #reading = new Map<string, Promise<KeptAnchors>>();

  /** `keyFile`: the private key, if it is outside the home. */
  constructor(home: string, keyFile: string | undefined) {
    this.folder = anchorFolder(home);
    this.#keyPath = keyFile ?? join(this.folder, 'anchor.key');
  }

  /** The newest valid anchor. */
  async last(workspace: string): Promise<AnchorPoint | undefined> {
    return (await this.#kept(workspace)).points.at(-1);
  }

  has(workspace: string): boolean {
    return existsSync(anchorPath(this.folder, workspace));
  }

  /** Anchors the journal's end; undefined if the journal has no event. */
  async anchor(db: Db, workspace: string, now: number): Promise<WrittenAnchor | undefined> {
    // Read first, because a prune is signed before it is done.
    const pruned = await readAnchor(db, workspace);
    const { points, cuts } = await this.#kept(workspace);
    const last = points.at(-1);
    if (!last) await this.#acceptCut(db, workspace, now);
    else {
      const cut = unsignedCut(pruned, cuts);
      if (cut) throw new AnchorMismatch(`in the journal of ${workspace} ${cut.reason}`);
      // After a legitimate prune there is an anchor at or after its end.
      if (last.seq < pruned.seq || (await this.#agreeing(db, workspace, [last])).length === 0)
        throw new AnchorMismatch(`the journal of ${workspace} does not agree with its anchor at event ${last.seq}`);
    }
    return await this.#write(db, workspace, { kind: 'anchor', at: now });
  }

  /**
   * Records that a journal is about to be cut after this event. The line is signed before the cut, so that a crash in between leaves an unneeded line but
   * never an unsigned cut.
   */
  async pruning(db: Db, workspace: string, { seq, hash }: ChainPoint, now: number): Promise<void> {
    const event = await db.selectFrom('events').select('time').where('workspace_id', '=', workspace).where('seq', '=', seq).executeTakeFirst();
    if (event) await this.#sign(workspace, { kind: 'pruned', at: now, seq, hash, time: Number(event.time) });
  }

  /** Records that the store was replaced. Anchors that agree with the new store stay valid. */
  async replaced(db: Db, workspace: string, kind: 'restored' | 'imported', now: number): Promise<WrittenAnchor> {
    const agreeing = await this.#agreeing(db, workspace, (await this.#kept(workspace)).points);
    const keeps = agreeing.reduce((most, { seq }) => Math.max(most, seq), 0);
    const empty = { kind, at: now, keeps: 0, seq: 0, hash: FIRST, time: 0 };
    const written = (await this.#write(db, workspace, { kind, at: now, keeps })) ?? (await this.#sign(workspace, empty));
    await this.#acceptCut(db, workspace, now);
    return written;
  }

  /** Whether a journal agrees with every anchor of this home, without reading the whole journal. */
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

  /** Accepts the journal's current beginning. Called if nothing was anchored before, or if the operator has replaced the store. */
  async #acceptCut(db: Db, workspace: string, at: number): Promise<void> {
    const row = await db.selectFrom('journal_anchors').select(['seq', 'hash', 'time']).where('workspace_id', '=', workspace).executeTakeFirst();
    if (row && unsignedCut(row, (await this.#kept(workspace)).cuts)) await this.#sign(workspace, { ...row, kind: 'pruned', at });
  }

  async #sign(workspace: string, what: Omit<UnsignedAnchor, 'workspace'>): Promise<WrittenAnchor> {
    await this.#kept(workspace);
    const kept = this.#read.get(workspace)?.kept as KeptAnchors;
    // Nothing is awaited from here on, so that no other anchor is written in between.
    const key = currentKey(this.folder, this.#keyPath, what.at);
    const path = anchorPath(this.folder, workspace);
    const { record, line } = signAnchor({ ...what, workspace }, kept.lastDigest, key);
    appendLine(path, line);
    if (record.kind === 'anchor')
      this.#read.set(workspace, { size: statSync(path).size, kept: { ...kept, points: [...kept.points, record], lastDigest: digestOf(line) } });
    return { record, publicKey: key.publicKey, path };
  }

  /** The anchors that the journal agrees with. Anchors of pruned events agree if the prune was signed. */
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

  /** Rereads the file only if it has changed. Concurrent callers share one read. */
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
      // Verifying signatures blocks this thread, so other work gets a turn in between.
      if (index % CHECKED_AT_ONCE === 0) await yieldToEventLoop();
    }
    this.#read.set(workspace, { size, kept: lines.kept });
    return lines.kept;
  }
}

const CHECKED_AT_ONCE = 50;
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Finds an event before the anchored event that has a later time. Times rise with `seq`, so that event was written in place of another one. */
async function firstYounger(db: Db, workspace: string, { seq, time }: AnchorPoint) {
  const events = db.selectFrom('events').select(['seq', 'hash', 'time']).where('workspace_id', '=', workspace).where('seq', '<=', seq);
  return await events.where('time', '>', time).orderBy('seq').limit(1).executeTakeFirst();
}
