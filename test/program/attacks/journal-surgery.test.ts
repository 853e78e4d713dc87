import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { canonicalJson, chainHash } from '../../../src/storage/journal.ts';
import type { EventRow } from '../../../src/storage/schema-rows.ts';
import { covenant, startProgram } from '../../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';

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

/** Deletes all events after this one, as an attacker could who can write to the database. The rest of the chain is valid. */
const cutAfter = (seq: number) => (db: DatabaseSync) => {
  db.exec(`delete from events where seq > ${seq}`);
  db.exec(`update journal_heads set seq = ${seq}, hash = (select hash from events where seq = ${seq})`);
};

test('anchors in the home, or one kept elsewhere, detect a truncated journal [harden.verify.cut-tail] [harden.verify.anchors] [harden.verify.given-anchor] [harden.anchor.cli]', async () => {
  const { server, verify, surgery, anchored, run } = await place();
  expect(await verify()).toMatchObject({ code: 0, valid: true, first_break: null, anchors: { failed: 0, checked: expect.any(Number) } });
  expect((await verify('--anchor', 'kept.json')).anchors).toEqual({ checked: 1, failed: 0 });
  await server.stop();
  surgery(cutAfter(anchored.seq - 2));
  const found = await verify();
  expect(found).toMatchObject({ code: 1, valid: false, first_break: { seq: anchored.seq - 1 } });
  expect(found.anchors.failed).toBeGreaterThan(0);
  // The commands of this test are recorded in the journal too, so their events have replaced the deleted ones.
  const given = await verify('--anchor', 'kept.json');
  expect(given).toMatchObject({ code: 1, valid: false, first_break: { seq: anchored.seq - 1 }, anchors: { checked: 1, failed: 1 } });
  for (let calls = 0; calls < 4; calls++) await run('tools', 'call', 'clock');
  expect(await verify()).toMatchObject({ code: 1, valid: false, first_break: { seq: anchored.seq - 1 } });
  expect((await run('audit', 'verify')).stdout).toMatch(/chain breaks at \d+: .+ anchor/);
  // The server must not write a new anchor, which would hide the change.
  expect(await run('audit', 'anchor', '--json')).toMatchObject({ code: 1, json: { code: 'JOURNAL_BROKEN' } });
});

test('a tail rewritten with matching hashes is detected [harden.verify.cut-tail]', async () => {
  const { server, verify, surgery } = await place();
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
});

/** Deletes the events up to `through`, changes the anchor's row and an event so that they say these events were pruned, and recomputes all hashes. */
function forgePrune(db: DatabaseSync, through: number, hash = 'ab'.repeat(32)) {
  const last = db.prepare('select * from events order by seq desc limit 1').get() as unknown as EventRow;
  db.prepare('delete from events where seq <= ?').run(through);
  const before = through < last.seq ? last : { seq: through, hash };
  const event = { ...last, seq: before.seq + 1, category: 'audit' as const, kind: 'journal.pruned', subject: 'journal', session: null };
  const payload = canonicalJson({ through_seq: through, root: hash, events: through, before: 1 });
  const end = chainHash(before.hash, { ...event, payload });
  db.prepare('insert into events (workspace_id, seq, category, kind, actor, subject, session, payload, time, hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').run(
    ...[last.workspace_id, event.seq, event.category, event.kind, event.actor, event.subject, event.session, payload, event.time, end],
  );
  db.prepare('insert into journal_anchors (workspace_id, seq, hash, time) values (?, ?, ?, ?)').run(last.workspace_id, through, hash, last.time);
  db.prepare('update journal_heads set seq = ?, hash = ?').run(event.seq, end);
}

test.each(['below the last anchor', 'past the last anchor'])(
  'a forged prune %s is detected immediately, and the server signs nothing after it [harden.verify.cut-tail]',
  async (where) => {
    const { at, server, verify, surgery, anchored, run } = await place();
    await server.stop();
    const linesBefore = readFileSync(anchored.path, 'utf8');
    surgery((db) => {
      const { seq, hash } = db.prepare('select seq, hash from events where seq = ?').get(anchored.seq - 2) as unknown as EventRow;
      const { head } = db.prepare('select max(seq) as head from events').get() as { head: number };
      if (where.startsWith('below')) forgePrune(db, seq, hash);
      else forgePrune(db, head + 1);
    });
    const missing = { seq: 1, reason: expect.stringContaining('no signed line records that they were pruned') };
    // The result must be the same, whether the server or the check reads the journal first.
    const again = await startProgram(at);
    expect(await verify()).toMatchObject({ code: 1, valid: false, first_break: missing });
    expect(await verify('--anchor', 'kept.json')).toMatchObject({ code: 1, valid: false, first_break: missing });
    expect(await run('audit', 'anchor', '--json')).toMatchObject({ code: 1, json: { code: 'JOURNAL_BROKEN' } });
    expect(await again.stop()).toBe(0);
    expect(await verify()).toMatchObject({ code: 1, valid: false, first_break: missing });
    expect(readFileSync(anchored.path, 'utf8')).toBe(linesBefore);
  },
);

test("a legitimate prune verifies, also against an anchor from before it or a truncated copy of the home's file [harden.verify.given-anchor]", async () => {
  const at = { home: temporaryFolder(), cwd: temporaryFolder() };
  const clock = join(at.cwd, 'clock');
  writeFileSync(clock, String(Date.now() - 40 * 24 * 3_600_000));
  const run = (...args: string[]) => covenant({ ...at, env: { COVENANT_TEST_CLOCK: clock } }, ...args);
  for (let calls = 0; calls < 3; calls++) await run('tools', 'call', 'clock');
  writeFileSync(join(at.cwd, 'kept.json'), (await run('audit', 'anchor', '--json')).stdout);
  await run('tools', 'call', 'clock');
  writeFileSync(clock, String(Date.now()));
  await run('tools', 'call', 'clock');
  const file = join(at.home, 'anchors', 'default.jsonl');
  expect(await run('audit', 'prune', '--keep', '1', '--yes')).toMatchObject({ code: 0 });
  expect((await run('audit', 'verify', '--json')).json).toMatchObject({ valid: true, anchors: { failed: 0 }, notices: [] });
  expect((await run('audit', 'verify', '--json', '--anchor', 'kept.json')).json).toMatchObject({
    ...{ valid: true, first_break: null, anchors: { failed: 0 } },
    notices: [expect.stringMatching(/^1 anchor in the file cannot be checked, because the events were pruned/)],
  });
  writeFileSync(join(at.cwd, 'torn.jsonl'), `${readFileSync(file, 'utf8')}{"kind":"anch`);
  const torn = (await run('audit', 'verify', '--json', '--anchor', 'torn.jsonl')).json as unknown as Verified;
  expect(torn).toMatchObject({ valid: true, anchors: { failed: 0 } });
  expect(torn.notices).toContainEqual(expect.stringContaining('incomplete'));
});

test('the anchor file is private to its owner, and a changed line in it fails verification, but a line cut short by a crash does not [harden.anchor.signed-file]', async () => {
  const { at, run, server, verify, anchored } = await place();
  await server.stop();
  const folder = join(at.home, 'anchors');
  expect(anchored.path).toBe(join(folder, 'default.jsonl'));
  expect(readdirSync(folder).sort()).toEqual(['anchor.key', 'anchor.keys.jsonl', 'default.jsonl']);
  for (const name of readdirSync(folder)) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
  const lines = readFileSync(anchored.path, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ kind: 'anchor', seq: anchored.seq, hash: anchored.root, workspace: 'ws_default' }),
  );
  writeFileSync(anchored.path, `${lines.join('\n')}\n{"kind":"anch`);
  const torn = await verify();
  expect(torn).toMatchObject({ code: 0, valid: true, notices: [expect.stringContaining('incomplete')] });
  expect((await run('audit', 'anchor')).code).toBe(0);
  expect(await verify()).toMatchObject({ code: 0, valid: true, anchors: { checked: torn.anchors.checked + 1, failed: 0 } });
  writeFileSync(anchored.path, `${lines.map((line) => line.replace(`"seq":${anchored.seq}`, '"seq":1')).join('\n')}\n`);
  expect(await verify()).toMatchObject({ code: 1, valid: false, first_break: { reason: expect.stringContaining('signature') } });
});

test('no server call can set an anchor aside; only a command in the home can, while no server runs [harden.anchor.cli]', async () => {
  const { run, server, verify, surgery, anchored } = await place();
  const secret = `cv_${'A'.repeat(43)}`;
  surgery((db) => {
    const columns = 'workspace_id, id, hash, kind, label, created_by, created_at';
    const values = ['ws_default', `tok_${'0'.repeat(26)}`, hash('sha256', secret), 'operator', 'made up', 'x', Date.now()];
    db.prepare(`insert into tokens (${columns}) values (?, ?, ?, ?, ?, ?, ?)`).run(...values);
    cutAfter(anchored.seq - 2)(db);
  });
  const lines = () =>
    readFileSync(anchored.path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string });
  const before = lines().length;
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const ask = (body: object) => fetch(`${server.url}/api/actions/journal.anchor`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(await (await ask({ after_restore: true })).json()).toMatchObject({ code: 'INVALID_INPUT' });
  expect(await (await ask({})).json()).toMatchObject({ code: 'JOURNAL_BROKEN' });
  expect(await run('audit', 'anchor', '--after-restore', '--json')).toMatchObject({ code: 1, json: { code: 'SERVER_RUNNING' } });
  await server.stop();
  expect(lines()).toHaveLength(before);
  expect(await verify()).toMatchObject({ code: 1, valid: false });
  expect(await run('audit', 'anchor', '--after-restore', '--json')).toMatchObject({ code: 0, json: { anchor: { kind: 'restored' } } });
  expect(await verify()).toMatchObject({ code: 0, valid: true, notices: [expect.stringContaining('a backup was restored')] });
  expect((await run('audit', 'verify')).stdout).not.toMatch(/^✓/);
});

test("the operator's own restore, import and key rotation are recorded as such [harden.verify.anchors]", async () => {
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
  expect(restored.notices).toEqual([expect.stringMatching(/a backup was restored; the earlier events \d+ to \d+ were replaced/)]);
  // An anchor that was stored elsewhere must still match.
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
