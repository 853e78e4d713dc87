import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { chunks } from '../chunks.ts';
import type { Db } from '../engine.ts';
import { StoreError } from '../errors.ts';
import { readEnd, readHead, readAnchor as readPruned } from '../journal.ts';
import { AnchorCheck, type AnchorReport, withForged } from './check.ts';
import { type AnchorPoint, anchorFolder, anchorPath, type KeptAnchors, readAnchorFile } from './file.ts';
import { currentKey, rotateKey, type SigningKey } from './keys.ts';
import { appendLine } from './lines.ts';
import { type AnchorRecord, digestOf, signAnchor, type UnsignedAnchor } from './record.ts';

/** The journal is not what it was when its last anchor was made: another anchor would cover that up. */
export class AnchorMismatch extends StoreError {
  override readonly name = 'AnchorMismatch';
}

export interface WrittenAnchor {
  readonly record: AnchorRecord;
  readonly publicKey: string;
  readonly path: string;
}

/** The anchors of one home. One process at a time writes them: its server, or a command while no server runs. */
export class AnchorKeeper {
  readonly folder: string;
  readonly #keyPath: string;
  readonly #read = new Map<string, { size: number; kept: KeptAnchors }>();

  /** `keyFile`: the private key, where it is not in the home. */
  constructor(home: string, keyFile: string | undefined) {
    this.folder = anchorFolder(home);
    this.#keyPath = keyFile ?? join(this.folder, 'anchor.key');
  }

  /** The newest that counts. */
  last(workspace: string): AnchorPoint | undefined {
    return this.#kept(workspace).points.at(-1);
  }

  has(workspace: string): boolean {
    return existsSync(anchorPath(this.folder, workspace));
  }

  /** An anchor of the journal's end; undefined where it has no event. */
  async anchor(db: Db, workspace: string, now: number): Promise<WrittenAnchor | undefined> {
    const last = this.last(workspace);
    if (last && (await this.#agreeing(db, workspace, [last])).length === 0) {
      throw new AnchorMismatch(`the journal of ${workspace} does not agree with its anchor at event ${last.seq}`);
    }
    return await this.#write(db, workspace, { kind: 'anchor', at: now });
  }

  /** The store was put in the place of another. Anchors that it agrees with still count. */
  async replaced(db: Db, workspace: string, kind: 'restored' | 'imported', now: number): Promise<WrittenAnchor | undefined> {
    this.#read.delete(workspace);
    const agreeing = await this.#agreeing(db, workspace, this.#kept(workspace).points);
    const keeps = agreeing.reduce((most, { seq }) => Math.max(most, seq), 0);
    return await this.#write(db, workspace, { kind, at: now, keeps });
  }

  /** Whether a journal agrees with every anchor of this home, without reading all of it. */
  async check(db: Db, workspace: string): Promise<AnchorReport> {
    const { points, forged } = readAnchorFile(this.folder, workspace);
    const agreeing = new Set(await this.#agreeing(db, workspace, points));
    const broken = points.find((point) => !agreeing.has(point));
    const check = new AnchorCheck(points);
    const younger = broken && (await firstYounger(db, workspace, broken));
    const seen = [...agreeing, ...(younger ? [younger] : [])].toSorted((a, b) => a.seq - b.seq);
    for (const event of seen) check.add(event);
    return withForged(check.finish(await readHead(db, workspace), await readPruned(db, workspace)), forged);
  }

  rotate(now: number): { key: string; previous: string } {
    return rotateKey(this.folder, this.#keyPath, now);
  }

  async #write(db: Db, workspace: string, what: Pick<UnsignedAnchor, 'kind' | 'at' | 'keeps'>): Promise<WrittenAnchor | undefined> {
    const end = await readEnd(db, workspace);
    if (!end) return undefined;
    const key: SigningKey = currentKey(this.folder, this.#keyPath, what.at);
    const { seq, hash, time } = end;
    if (time === null) throw new AnchorMismatch(`event ${seq}, at which the journal of ${workspace} ends, is not there`);
    const path = anchorPath(this.folder, workspace);
    const { record, line } = signAnchor({ ...what, workspace, seq, hash, time }, this.#kept(workspace).lastDigest, key);
    appendLine(path, line);
    this.#remember(path, workspace, record, line);
    return { record, publicKey: key.publicKey, path };
  }

  /** Those of the anchors that the journal agrees with; what was pruned cannot be told, and does. */
  async #agreeing(db: Db, workspace: string, points: readonly AnchorPoint[]): Promise<AnchorPoint[]> {
    const pruned = await readPruned(db, workspace);
    const hashes = new Map([[pruned.seq, pruned.hash]]);
    for (const some of chunks(
      points.map(({ seq }) => seq),
      500,
    )) {
      const rows = await db.selectFrom('events').select(['seq', 'hash']).where('workspace_id', '=', workspace).where('seq', 'in', some).execute();
      for (const { seq, hash } of rows) hashes.set(Number(seq), hash);
    }
    return points.filter(({ seq, hash }) => seq < pruned.seq || hashes.get(seq) === hash);
  }

  /** Read again only where somebody else has written. */
  #kept(workspace: string): KeptAnchors {
    const path = anchorPath(this.folder, workspace);
    const size = existsSync(path) ? statSync(path).size : 0;
    const known = this.#read.get(workspace);
    if (known?.size === size) return known.kept;
    const kept = readAnchorFile(this.folder, workspace);
    this.#read.set(workspace, { size, kept });
    return kept;
  }

  /** A file of years is not read again for every line. */
  #remember(path: string, workspace: string, record: AnchorRecord, line: string): void {
    const known = this.#read.get(workspace);
    if (record.kind !== 'anchor' || !known) return void this.#read.delete(workspace);
    const kept = { ...known.kept, points: [...known.kept.points.slice(-1), record], lastDigest: digestOf(line) };
    this.#read.set(workspace, { size: statSync(path).size, kept });
  }
}

/** Times rise with `seq`: an event before an anchor's that is younger came later, in the place of another. */
async function firstYounger(db: Db, workspace: string, { seq, time }: AnchorPoint) {
  const events = db.selectFrom('events').select(['seq', 'hash', 'time']).where('workspace_id', '=', workspace).where('seq', '<=', seq);
  return await events.where('time', '>', time).orderBy('seq').limit(1).executeTakeFirst();
}
