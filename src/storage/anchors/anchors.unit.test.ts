import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDatabase, temporaryFolder } from '../../testing/store/database.ts';
import { openTestStore } from '../../testing/store/store.ts';
import { AnchorCheck } from './check.ts';
import { type AnchorPoint, anchorPath, readAnchorFile } from './file.ts';
import { AnchorKeeper } from './keeper.ts';
import { currentKey, makeKey, readKeys, rotateKey } from './keys.ts';
import { appendLine } from './lines.ts';
import { digestOf, FIRST, signAnchor } from './record.ts';

const W = 'ws_default';
const HASH = 'a'.repeat(64);
const anchor = (seq: number, kind: 'anchor' | 'restored' = 'anchor', keeps?: number) => ({
  ...{ kind, workspace: W, seq, hash: HASH, time: seq, at: seq },
  ...(keeps === undefined ? {} : { keeps }),
});

test('anchors signed with an earlier key still verify after a rotation; a key that no earlier key introduced is reported [harden.anchor.signed-file]', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'anchor.key');
  const write = (seq: number, previous: string) => {
    const { line } = signAnchor(anchor(seq), previous, currentKey(folder, path, seq));
    appendLine(anchorPath(folder, W), line);
    return digestOf(line);
  };
  const first = write(1, FIRST);
  const before = readFileSync(path, 'utf8');
  const { key, previous } = rotateKey(folder, path, 2);
  expect(readFileSync(path, 'utf8')).not.toBe(before);
  expect(existsSync(`${path}.next`)).toBe(false);
  write(2, first);
  expect(readAnchorFile(folder, W)).toMatchObject({ forged: [], notices: [], points: [{ seq: 1 }, { seq: 2 }] });
  expect([...readKeys(folder).publicKeys.keys()]).toEqual([previous, key]);
  makeKey(path);
  // Two concurrent appends name the same previous line. They are not reported as forged.
  write(3, first);
  expect(readAnchorFile(folder, W)).toMatchObject({ forged: [], notices: [expect.stringContaining('was not introduced')] });
  expect(readAnchorFile(folder, W).points).toHaveLength(3);
});

test('a line with a wrong key, of another workspace or after a missing line fails; an incomplete line is skipped', () => {
  const folder = temporaryFolder();
  const key = currentKey(folder, join(folder, 'anchor.key'), 1);
  const path = anchorPath(folder, W);
  const stranger = makeKey(join(temporaryFolder(), 'other.key'));
  appendLine(path, signAnchor(anchor(1), FIRST, stranger).line);
  appendLine(path, signAnchor({ ...anchor(2), workspace: 'ws_other' }, FIRST, key).line);
  appendLine(path, signAnchor(anchor(3), digestOf('a line that is not here'), key).line);
  writeFileSync(path, '{"kind":"anch', { flag: 'a' });
  appendLine(path, signAnchor(anchor(4), FIRST, key).line);
  const { points, forged, notices } = readAnchorFile(folder, W);
  expect(points.map(({ seq }) => seq)).toEqual([4]);
  expect(forged.map(({ reason }) => reason.replace(/^.*line \d+: /, ''))).toEqual([
    expect.stringContaining('signature'),
    'not an anchor of this workspace',
    'the line before it is missing',
  ]);
  expect(notices).toEqual([expect.stringContaining('incomplete')]);
});

test('a restore sets aside the anchors of replaced events and reports which; kept events stay anchored', () => {
  const folder = temporaryFolder();
  const key = currentKey(folder, join(folder, 'anchor.key'), 1);
  let previous = FIRST;
  for (const record of [anchor(5), anchor(9), anchor(7, 'restored', 5), anchor(8)]) {
    const { line } = signAnchor(record, previous, key);
    appendLine(anchorPath(folder, W), line);
    previous = digestOf(line);
  }
  const { points, notices } = readAnchorFile(folder, W);
  expect(points.map(({ seq }) => seq)).toEqual([5, 7, 8]);
  expect(notices).toEqual([expect.stringContaining('the earlier events 6 to 9 were replaced')]);
});

test('a difference is located as exactly as the anchors allow, and pruned events do not count as missing', () => {
  const points: AnchorPoint[] = [2, 4, 6].map((seq) => ({ seq, hash: `h${seq}`, time: seq, at: seq }));
  const compared = (events: [seq: number, hash: string, time: number][], head: number, pruned = 0, cuts: number[] = []) => {
    const check = new AnchorCheck(points);
    for (const [seq, hash, time] of events) check.add({ seq, hash, time });
    return check.finish(
      { seq: head, hash: '' },
      { seq: pruned, hash: `h${pruned}` },
      cuts.map((seq) => ({ seq, hash: `h${seq}` })),
    );
  };
  const honest = (to: number): [number, string, number][] => Array.from({ length: to }, (_, n) => [n + 1, `h${n + 1}`, n + 1]);
  expect(compared(honest(7), 7)).toEqual({ checked: 3, failed: 0, firstBreak: null });
  expect(compared(honest(3), 3)).toMatchObject({ checked: 3, failed: 2, firstBreak: { seq: 4, reason: expect.stringContaining('is missing') } });
  expect(compared([...honest(3), [4, 'x', 50], [5, 'x', 51], [6, 'x', 52]], 6)).toMatchObject({ failed: 2, firstBreak: { seq: 4 } });
  expect(compared([...honest(2), [3, 'x', 3], [4, 'x', 4], [5, 'x', 5], [6, 'x', 6]], 6)).toMatchObject({
    firstBreak: { seq: 3, reason: expect.stringContaining('rewritten') },
  });
  expect(compared(honest(7).slice(4), 7, 4, [2, 4])).toEqual({ checked: 2, failed: 0, firstBreak: null });
  // An unsigned prune is not valid, wherever it ends.
  expect(compared(honest(7).slice(4), 7, 4, [2, 5])).toMatchObject({ failed: 1, firstBreak: { seq: 3, reason: expect.stringContaining('no signed line') } });
  expect(compared([[9, 'h9', 9]], 9, 8)).toMatchObject({ failed: 1, firstBreak: { seq: 1, reason: expect.stringContaining('events 1 to 8 are missing') } });
});

test('uses the key at a given path and does not create one in the home', async () => {
  const database = await temporaryDatabase('sqlite');
  const store = await openTestStore(database);
  await store.append(W, [{ category: 'work', kind: 'note.made', actor: 'operator' }]);
  const file = join(temporaryFolder(), 'given.pem');
  const given = makeKey(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const keeper = new AnchorKeeper(database.home, file);
  expect(await keeper.anchor(store.reader, W, 1)).toMatchObject({ record: { key: given.id, seq: 1 }, publicKey: given.publicKey });
  expect(existsSync(join(keeper.folder, 'anchor.key'))).toBe(false);
  expect(await keeper.check(store.reader, W)).toEqual({ checked: 1, failed: 0, firstBreak: null });
  // Concurrent anchors result in one valid file.
  await Promise.all(Array.from({ length: 5 }, (_, n) => keeper.anchor(store.reader, W, n)));
  expect(readAnchorFile(keeper.folder, W)).toMatchObject({ forged: [], points: { length: 6 } });
});
