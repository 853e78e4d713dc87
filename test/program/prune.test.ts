import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { covenant, startProgram } from '../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

/** Creates a journal. Its first part is from January, and the rest is from half a year later. */
async function aged({ server }: { server: boolean }) {
  const home = temporaryFolder();
  const file = join(home, 'clock');
  writeFileSync(file, String(Date.UTC(2026, 0, 1)));
  const at = { home, env: { COVENANT_TEST_CLOCK: file } };
  const run = (...args: string[]) => covenant(at, ...args);
  const { json } = await run('audit', 'export', '--anchor', '--json');
  writeFileSync(file, String(Date.UTC(2026, 6, 1)));
  if (server) await startProgram(at);
  return { home, run, old: json };
}

test('audit prune counts and deletes events, and the journal verifies and exports from its anchor', async () => {
  const { run, old } = await aged({ server: true });
  const whole = await run('audit', 'verify', '--json');
  expect(await run('audit', 'prune', '--keep', '31', '--dry-run')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Would delete \d+ events before 2026-05-31T/),
  });
  const pruned = await run('audit', 'prune', '--before', '2026-03-01', '--yes', '--json');
  expect(pruned).toMatchObject({
    code: 0,
    json: { kind: 'journal_pruned', dry_run: false, before: Date.UTC(2026, 2, 1), anchor: { seq: expect.any(Number) } },
  });
  const { seq, hash } = pruned.json.anchor as { seq: number; hash: string };
  expect(seq).toBeGreaterThanOrEqual(Number(old.seq));
  expect(whole.json).toMatchObject({ valid: true, anchor: { seq: 0 } });
  const verified = await run('audit', 'verify');
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining(`events ${seq + 1}…`) });
  expect(verified.stdout).toContain(`anchored at ${seq} (root ${hash})`);
  // Anchors of pruned events must not count as failed.
  expect((await run('audit', 'verify', '--json')).json).toMatchObject({ valid: true, anchors: { failed: 0, checked: expect.any(Number) } });
  const [first] = (await run('audit', 'export', '--json')).stdout.split('\n');
  expect(JSON.parse(String(first))).toMatchObject({ seq: seq + 1 });
  expect((await run('audit', 'recent', '--limit', '1000', '--kind', 'journal.pruned', '--json')).json.items).toMatchObject([
    { payload: { through_seq: seq, root: hash } },
  ]);
  expect(await run('audit', 'prune', '--before', '2026-03-01')).toMatchObject({ code: 0, stdout: expect.stringContaining('No event is older than') });
  // JavaScript would convert this impossible date to a later day.
  expect(await run('audit', 'prune', '--before', '2026-02-30', '--dry-run')).toMatchObject({ code: 2, stderr: expect.stringContaining('--before') });
  expect(await run('audit', 'prune', '--keep', '36501', '--dry-run')).toMatchObject({ code: 2, stderr: expect.stringContaining('36500') });
});

test('audit prune refuses a broken chain with exit 1 and names the event', async () => {
  const { home, run } = await aged({ server: false });
  const database = new DatabaseSync(join(home, 'covenant.db'));
  database.exec(`update events set kind = 'other' where seq = 2`);
  expect(await run('audit', 'prune', '--keep', '31', '--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('event 2') });
  expect(database.prepare('select count(*) as n from events where seq <= 3').get()?.n).toBe(3);
  database.close();
});
