import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { canonicalJson } from '../../../src/storage/canonical.ts';
import { chainHash } from '../../../src/storage/journal.ts';
import type { EventRow } from '../../../src/storage/tables.ts';
import { temporaryFolder } from '../../../src/testing/database.ts';
import { covenant, startProgram } from '../../../src/testing/program.ts';

interface Verified {
  valid: boolean;
  first_break: { seq: number; reason: string } | null;
  anchors: { checked: number; failed: number };
  notices: string[];
}

async function place() {
  const at = { home: temporaryFolder(), cwd: temporaryFolder() };
  const run = (...args: string[]) => covenant(at, ...args);
  const server = await startProgram(at);
  for (let calls = 0; calls < 3; calls++) await run('tools', 'call', 'clock');
  const anchored = await run('audit', 'anchor', '--json');
  writeFileSync(join(at.cwd, 'kept.json'), anchored.stdout);
  await run('tools', 'call', 'clock');
  const verify = async (...more: string[]) => {
    const { code, json } = await run('audit', 'verify', '--json', ...more);
    return { code, ...(json as unknown as Verified) };
  };
  const surgery = (work: (db: DatabaseSync) => void) => {
    const db = new DatabaseSync(join(at.home, 'covenant.db'));
    work(db);
    db.close();
  };
  return { at, run, server, verify, surgery, anchored: anchored.json as { seq: number; root: string; path: string } };
}

/** As whoever can write the database would do it: what stays is a chain without a fault. */
const cutAfter = (seq: number) => (db: DatabaseSync) => {
  db.exec(`delete from events where seq > ${seq}`);
  db.exec(`update journal_heads set seq = ${seq}, hash = (select hash from events where seq = ${seq})`);
};

test('a tail that was cut is found by the anchors of the home and by one that was kept elsewhere [harden.verify.cut-tail] [harden.verify.anchors] [harden.verify.given-anchor] [harden.anchor.cli]', async () => {
  const { server, verify, surgery, anchored, run } = await place();
  expect(await verify()).toMatchObject({ code: 0, valid: true, first_break: null, anchors: { failed: 0, checked: expect.any(Number) } });
  expect((await verify('--anchor', 'kept.json')).anchors).toEqual({ checked: 1, failed: 0 });
  await server.stop();
  surgery(cutAfter(anchored.seq - 2));
  const found = await verify();
  expect(found).toMatchObject({ code: 1, valid: false, first_break: { seq: anchored.seq - 1 } });
  expect(found.anchors.failed).toBeGreaterThan(0);
  // Commands are journaled themselves: what they have appended meanwhile stands in the place of what was there.
  const given = await verify('--anchor', 'kept.json');
  expect(given).toMatchObject({ code: 1, valid: false, first_break: { seq: anchored.seq - 1 }, anchors: { checked: 1, failed: 1 } });
  for (let calls = 0; calls < 4; calls++) await run('tools', 'call', 'clock');
  expect(await verify()).toMatchObject({ code: 1, valid: false, first_break: { seq: anchored.seq - 1 } });
  expect((await run('audit', 'verify')).stdout).toMatch(/chain breaks at \d+: .+ anchor/);
  // Nor does another anchor cover it up.
  expect(await run('audit', 'anchor', '--json')).toMatchObject({ code: 1, json: { code: 'JOURNAL_BROKEN' } });
});

test('a tail that was rewritten with hashes that fit is found, and so is a beginning that was made up [harden.verify.cut-tail]', async () => {
  const { server, verify, surgery, anchored } = await place();
  await server.stop();
  const rechain = (db: DatabaseSync, from: number) => {
    const rows = db.prepare('select * from events order by seq').all() as unknown as EventRow[];
    let previous = rows.find(({ seq }) => seq === from - 1)?.hash ?? '0'.repeat(64);
    for (const row of rows.filter(({ seq }) => seq >= from)) {
      previous = chainHash(previous, row);
      db.prepare('update events set hash = ? where seq = ?').run(previous, row.seq);
    }
    db.prepare('update journal_heads set hash = ?').run(previous);
  };
  surgery((db) => {
    db.exec(`update events set actor = 'nobody' where seq = 3`);
    rechain(db, 3);
  });
  const found = await verify();
  expect(found).toMatchObject({ code: 1, valid: false });
  expect(found.first_break?.seq).toBeLessThanOrEqual(3);
  // All of it is taken for pruned, and an event of the chain says so.
  surgery((db) => {
    const last = db.prepare('select * from events order by seq desc limit 1').get() as unknown as EventRow;
    const cut = { seq: last.seq + 5, hash: 'a'.repeat(64) };
    db.prepare('delete from events').run();
    const event = { ...last, seq: cut.seq + 1, category: 'audit' as const, kind: 'journal.pruned', subject: 'journal', session: null };
    const payload = canonicalJson({ through_seq: cut.seq, root: cut.hash, events: cut.seq, before: 1 });
    const hash = chainHash(cut.hash, { ...event, payload });
    db.prepare(
      'insert into events (workspace_id, seq, category, kind, actor, subject, session, payload, time, hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ).run(...[last.workspace_id, event.seq, event.category, event.kind, event.actor, event.subject, event.session, payload, event.time, hash]);
    db.prepare('insert into journal_anchors (workspace_id, seq, hash, time) values (?, ?, ?, ?)').run(last.workspace_id, cut.seq, cut.hash, last.time);
    db.prepare('update journal_heads set seq = ?, hash = ?').run(event.seq, hash);
  });
  expect(await verify()).toMatchObject({ code: 1, valid: false, first_break: { reason: expect.stringContaining('were pruned') } });
  expect(await verify('--anchor', 'kept.json')).toMatchObject({ code: 1, valid: false, first_break: { seq: anchored.seq + 1 } });
});

test('the file of anchors is the owner’s alone; a line that was changed fails, one that a crash cut short does not [harden.anchor.signed-file]', async () => {
  const { at, run, server, verify, anchored } = await place();
  await server.stop();
  const folder = join(at.home, 'anchors');
  expect(anchored.path).toBe(join(folder, 'default.jsonl'));
  expect(readdirSync(folder).sort()).toEqual(['anchor.key', 'default.jsonl', 'keys.jsonl']);
  for (const name of readdirSync(folder)) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
  const lines = readFileSync(anchored.path, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ kind: 'anchor', seq: anchored.seq, hash: anchored.root, workspace: 'ws_default' }),
  );
  writeFileSync(anchored.path, `${lines.join('\n')}\n{"kind":"anch`);
  const torn = await verify();
  expect(torn).toMatchObject({ code: 0, valid: true, notices: [expect.stringContaining('cut short')] });
  expect((await run('audit', 'anchor')).code).toBe(0);
  expect(await verify()).toMatchObject({ code: 0, valid: true, anchors: { checked: torn.anchors.checked + 1, failed: 0 } });
  writeFileSync(anchored.path, `${lines.map((line) => line.replace(`"seq":${anchored.seq}`, '"seq":1')).join('\n')}\n`);
  expect(await verify()).toMatchObject({ code: 1, valid: false, first_break: { reason: expect.stringContaining('signature') } });
});

test('what the operator does to the store reads as that: restore, import and a new key [harden.verify.anchors]', async () => {
  const { at, run, server, verify, anchored } = await place();
  const backup = join(at.home, 'old.db');
  await run('backup', backup);
  expect(existsSync(join(`${backup}.anchors`, 'anchor.key'))).toBe(true);
  for (let calls = 0; calls < 3; calls++) await run('tools', 'call', 'clock');
  const late = (await run('audit', 'anchor', '--json')).json as { seq: number };
  expect(await run('audit', 'rotate-key', '--json')).toMatchObject({ code: 0, json: { kind: 'anchor_key_rotated' } });
  await run('audit', 'anchor');
  expect(await verify()).toMatchObject({ code: 0, valid: true, anchors: { failed: 0 }, notices: [] });
  await server.stop();

  expect((await run('restore', backup)).code).toBe(0);
  const restored = await verify();
  expect(restored).toMatchObject({ code: 0, valid: true, anchors: { failed: 0 } });
  expect(restored.notices).toEqual([expect.stringMatching(/a backup was restored; events \d+ to \d+ of before went/)]);
  // What was kept elsewhere still says what was there.
  expect(await verify('--anchor', 'kept.json')).toMatchObject({ code: 0 });
  expect(late.seq).toBeGreaterThan(anchored.seq);

  const other = { home: temporaryFolder(), cwd: at.cwd };
  expect((await covenant(other, 'restore', backup, '--keep-tokens')).code).toBe(0);
  expect((await covenant(other, 'audit', 'verify', '--json')).json).toMatchObject({ valid: true, anchors: { failed: 0 } });

  await run('export', 'moved.jsonl');
  const third = { home: temporaryFolder(), cwd: at.cwd };
  const first = await startProgram(third);
  await covenant(third, 'audit', 'anchor');
  await first.stop();
  expect(await covenant(third, 'import', 'moved.jsonl')).toMatchObject({ code: 0 });
  const imported = (await covenant(third, 'audit', 'verify', '--json')).json as unknown as Verified;
  expect(imported).toMatchObject({ valid: true, anchors: { failed: 0 }, notices: [expect.stringContaining('a workspace was imported')] });
});
