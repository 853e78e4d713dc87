import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { inboxOf } from '../usage-readers/inbox.ts';
import { Inboxes } from './inboxes.ts';
import { Ledger, openLedger } from './ledger.ts';

function opened(home = temporaryFolder(), since?: number): Ledger {
  const ledger = openLedger({ HOME: home }, 'http://127.0.0.1:3001', { now: 1_000, since });
  if (!(ledger instanceof Ledger)) throw new Error(`held by ${ledger.heldBy}`);
  return ledger;
}

const inbox = (): string => {
  const folder = inboxOf(temporaryFolder());
  mkdirSync(folder, { recursive: true });
  return folder;
};
const uses = (count: number, name = '') =>
  JSON.stringify(Array.from({ length: count }, (_, at) => ({ id: `${name}${at}`, usage: { input_tokens: 1, output_tokens: 1 } })));

/** Runs a sync against a server that accepts everything. Returns the number of sent events and of rounds. */
async function delivered(ledger: Ledger, folder: string) {
  const boxes = new Inboxes(ledger, [folder]);
  let [sent, rounds, isMore] = [0, 0, true];
  // Stops the test if the loop does not end.
  for (; isMore && rounds < 20; rounds++) {
    isMore = await boxes.take();
    sent += ledger.pending.length;
    ledger.settle(new Set(ledger.pending.map(({ id }) => id)), {});
    boxes.flush();
  }
  return { sent, rounds, unread: boxes.unread, rejected: boxes.rejected, left: boxes.left };
}

test('files that cannot be moved are sent once, however many they are, and a message reports that they stay', async () => {
  const [ledger, folder] = [opened(), inbox()];
  for (let at = 0; at < 6; at++) writeFileSync(join(folder, `provider-${at}.json`), uses(1_000, `${at}-`));
  writeFileSync(join(folder, 'sent'), 'a plain file');
  const stuck = `usage files cannot be moved out of ${folder} (EEXIST): they stay and are not sent again`;
  expect(await delivered(ledger, folder)).toMatchObject({ sent: 6_000, rounds: 7, unread: [stuck] });
  expect(await delivered(ledger, folder)).toMatchObject({ sent: 0, rounds: 1, unread: [stuck] });
  rmSync(join(folder, 'sent'));
  expect(await delivered(ledger, folder)).toMatchObject({ sent: 0, unread: [] });
  expect(readdirSync(folder)).toEqual(['sent']);
});

test('sends only the added events of a file that stays, and treats a replacement of the file as a new file', async () => {
  const [ledger, folder] = [opened(), inbox()];
  writeFileSync(join(folder, 'sent'), 'a plain file');
  writeFileSync(join(folder, 'a.json'), uses(2));
  expect(await delivered(ledger, folder)).toMatchObject({ sent: 2 });
  writeFileSync(join(folder, 'a.json'), uses(3));
  expect(await delivered(ledger, folder)).toMatchObject({ sent: 1 });
  writeFileSync(join(folder, 'a.json'), uses(3, 'other'));
  expect(await delivered(ledger, folder)).toMatchObject({ sent: 3 });
});

const unnamed = (count: number) => JSON.stringify(Array(count).fill({ usage: { input_tokens: 1, output_tokens: 1 } }));

test('a file with the same name as a moved file is a new file, so even equal uses without ids count again', async () => {
  const [ledger, folder] = [opened(), inbox()];
  for (const sent of [1, 2, 1]) {
    writeFileSync(join(folder, 'provider-usage.json'), unnamed(sent));
    expect(await delivered(ledger, folder)).toMatchObject({ sent });
  }
  expect(await delivered(ledger, folder)).toMatchObject({ sent: 0 });
});

test('counts only the added uses of a file, even without ids, whether its writer appended to the file or replaced it', async () => {
  const [home, folder] = [temporaryFolder(), inbox()];
  const ledger = opened(home);
  const path = join(folder, 'provider-usage.json');
  writeFileSync(join(folder, 'sent'), 'a plain file');
  writeFileSync(path, unnamed(2));
  expect(await delivered(ledger, folder)).toMatchObject({ sent: 2 });
  writeFileSync(path, unnamed(3));
  expect(await delivered(ledger, folder)).toMatchObject({ sent: 1 });
  ledger.close();
  const again = opened(home, 500);
  expect(await delivered(again, folder)).toMatchObject({ sent: 0 });
  writeFileSync(`${path}.new`, unnamed(4));
  renameSync(`${path}.new`, path);
  expect(await delivered(again, folder)).toMatchObject({ sent: 1 });
  // This sync notices that the file is gone.
  rmSync(path);
  await delivered(again, folder);
  writeFileSync(path, unnamed(1));
  expect(await delivered(again, folder)).toMatchObject({ sent: 1 });
});

test('a file that was rewritten during the sync is not moved before it is read again', async () => {
  const [ledger, folder] = [opened(), inbox()];
  writeFileSync(join(folder, 'a.json'), uses(2));
  const boxes = new Inboxes(ledger, [folder]);
  await boxes.take();
  ledger.settle(new Set(ledger.pending.map(({ id }) => id)), {});
  writeFileSync(join(folder, 'a.json'), uses(3));
  boxes.flush();
  expect(readdirSync(folder)).toEqual(['a.json']);
});

test('files without usage stay where they are in a folder that is not an inbox', async () => {
  const [ledger, folder] = [opened(), temporaryFolder()];
  writeFileSync(join(folder, 'package.json'), '{"name":"shop"}');
  writeFileSync(join(folder, 'a.json'), uses(1));
  expect(await delivered(ledger, folder)).toMatchObject({
    sent: 1,
    rejected: 0,
    left: [{ file: join(folder, 'package.json'), reason: expect.stringContaining('no token counters') }],
  });
  writeFileSync(join(folder, 'b.json'), uses(1, 'b'));
  const boxes = new Inboxes(ledger, [folder]);
  await boxes.take();
  const [event] = ledger.pending;
  ledger.settle(new Set([event?.id ?? '']), { [event?.id ?? '']: 'Not so.' });
  boxes.flush();
  expect(boxes.left).toContainEqual({ file: join(folder, 'b.json'), reason: 'Not so.' });
  expect(readdirSync(folder)).toEqual(['b.json', 'package.json', 'sent']);
});

test('the reason why a file stays is reported as long as the file is not fixed', async () => {
  const [home, folder] = [temporaryFolder(), temporaryFolder()];
  const ledger = opened(home);
  const path = join(folder, 'a.json');
  writeFileSync(path, uses(2));
  const boxes = new Inboxes(ledger, [folder]);
  await boxes.take();
  const [first, second] = ledger.pending.map(({ id }) => id);
  // Only one of the two events is settled first, so the file waits for the other event.
  ledger.settle(new Set([first ?? '']), { [first ?? '']: 'Not so.' });
  boxes.flush();
  const others = Array.from({ length: 6_000 }, (_, at) => `other ${at}`);
  ledger.settle(new Set([second ?? '', ...others]), Object.fromEntries(others.map((id) => [id, 'Nor so.'])));
  ledger.close();
  const again = opened(home);
  const left = [{ file: path, reason: 'Not so.' }];
  expect(await delivered(again, folder)).toMatchObject({ left });
  writeFileSync(path, uses(3));
  expect(await delivered(again, folder)).toMatchObject({ left });
  writeFileSync(path, uses(3, 'mended'));
  expect(await delivered(again, folder)).toMatchObject({ sent: 3, left: [] });
  expect(readdirSync(folder)).toEqual(['sent']);
});

test.skipIf(process.getuid?.() === 0)('reports a file that it has no permission to read', async () => {
  const [ledger, folder] = [opened(), inbox()];
  writeFileSync(join(folder, 'a.json'), uses(1));
  chmodSync(join(folder, 'a.json'), 0);
  expect(await delivered(ledger, folder)).toMatchObject({ sent: 0, unread: [`${join(folder, 'a.json')} cannot be read (EACCES)`] });
});
