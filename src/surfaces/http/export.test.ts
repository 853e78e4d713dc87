import { expect, test } from 'vitest';
import type { Principal } from '../../kernel/call.ts';
import type { App } from '../../main.ts';
import type { JournalEvent } from '../../storage/journal.ts';
import { servedApp } from '../../testing/app.ts';
import type { Session } from '../../testing/scenes/signin.ts';
import { exportEvents } from './export.ts';

async function served() {
  const { url, ...t } = await servedApp();
  await t.developer('mira');
  const signIn = (developer: string): Promise<Session> => t.signIn(url, developer);
  const take = async (query: string, session: Session) =>
    fetch(url + (await session.ticketed(`/api/events/export${query}`)), { headers: { cookie: session.cookie } });
  return { t, url, signIn, take };
}

const eventsIn = (text: string): JournalEvent[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as JournalEvent);

test('exports all matching events, one per line, up to the end of the journal at the start of the export', async () => {
  const { t, signIn, take } = await served();
  const { workspace } = t.operator.principal;
  for (let part = 0; part < 3; part++)
    await t.app.store.append(
      workspace,
      Array.from({ length: 900 }, (_, index) => ({ category: 'work' as const, kind: index % 2 ? 'odd' : 'even', actor: 'operator' })),
    );
  const mira = await signIn('mira');
  const journal = await t.events();
  const all = await take('', mira);
  expect(all.headers.get('content-disposition')).toBe('attachment; filename="covenant-events.jsonl"');
  expect(eventsIn(await all.text())).toEqual(journal);
  expect(eventsIn(await (await take('?kind=odd&category=work', mira)).text())).toEqual(journal.filter(({ kind }) => kind === 'odd'));
  expect(await (await take('?actor=nobody', mira)).text()).toBe('');
  expect(await t.events()).toHaveLength(journal.length);
});

test('refuses an export without the cookie, with a token instead of the cookie, or with an unknown field', async () => {
  const { t, url, signIn, take } = await served();
  const { token } = await t.developer('mira', 'codex');
  expect((await fetch(`${url}/api/events/export`)).status).toBe(401);
  expect((await fetch(`${url}/api/events/export`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
  const refused = await take('?colour=red', await signIn('mira'));
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ code: 'INVALID_INPUT' });
});

test('refuses API requests from pages of other sites and ports, and serves an address that a person opens directly', async () => {
  const { url, signIn } = await served();
  const mira = await signIn('mira');
  const from = (site: string, path: string) => fetch(url + path, { headers: { ...mira.headers, 'sec-fetch-site': site } });
  for (const site of ['cross-site', 'same-site']) {
    for (const path of [await mira.ticketed('/api/events/export'), '/api/state', '/%61pi/events/export']) {
      const refused = await from(site, path);
      expect([path, refused.status, await refused.json()]).toMatchObject([path, 403, { data: { code: 'FOREIGN_ORIGIN' } }]);
    }
    // A link on another site may open a page.
    expect((await from(site, '/activity')).status).not.toBe(403);
  }
  for (const site of ['same-origin', 'none']) expect((await from(site, await mira.ticketed('/api/events/export'))).status).toBe(200);
});

test('redacts private developers in an export', async () => {
  const { t, signIn, take } = await served();
  const { principal } = await t.developer('ana', 'codex');
  await t.app.store.append(principal.workspace, [{ category: 'work', kind: 'made', actor: principal.actor }]);
  await t.done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  const text = await (await take('?kind=made', await signIn('mira'))).text();
  expect(eventsIn(text)).toMatchObject([{ actor: '@private' }]);
  expect(text).not.toContain(principal.developerId);
});

/** An app that returns these pages of its journal. */
const pagedApp = (pages: readonly { seqs: number[]; to: number; head: number }[]): App => {
  const left = [...pages];
  const action = async () => {
    const { seqs, to, head } = left.shift() ?? { seqs: [], to: 0, head: 0 };
    return { isError: false, reply: { data: { items: seqs.map((seq) => ({ seq })), looked: { from: 1, to }, head: { seq: head } } } };
  };
  return { dispatch: { action } } as unknown as App;
};
const asked = { principal: {} as Principal, filter: {} };

test('an export continues after pages without a match, and ends at the event that was the last one when it started', async () => {
  const app = pagedApp([
    { seqs: [], to: 10, head: 30 },
    { seqs: [], to: 20, head: 31 },
    { seqs: [25, 30, 32], to: 32, head: 33 },
  ]);
  const made = (await exportEvents(app, { ...asked, current: async () => true })) as Response;
  expect(eventsIn(await made.text()).map(({ seq }) => seq)).toEqual([25, 30]);
});

test('aborts an export when the sign-in ends, so that it does not look complete', async () => {
  const app = pagedApp([
    { seqs: [1], to: 1, head: 2 },
    { seqs: [2], to: 2, head: 2 },
  ]);
  let looks = 0;
  const made = (await exportEvents(app, { ...asked, current: async () => ++looks < 2 })) as Response;
  await expect(made.text()).rejects.toThrow('could not be read');
});
