import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { cursorStore } from '../../../clients/cursor.ts';
import { servedApp, type TestApp } from '../../../testing/app.ts';
import { whenOver } from '../../../testing/scope.ts';
import { recordTraffic } from '../../../testing/stand-ins/traffic.ts';
import {
  CANARY,
  claudeLine,
  countedEntry,
  rolloutLines,
  rolloutPath,
  transcriptPath,
  wholeEntry,
  writeCodexLog,
  writeCursorStore,
  writeLines,
} from '../../../testing/stand-ins/usage-stores.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { storeTokens } from '../../../wire/credentials.ts';
import { noteSession } from '../runs.ts';
import { noteRepo } from '../state.ts';
import { inboxOf } from '../usage-readers/inbox.ts';
import { beginUsage, syncUsage } from './sync.ts';

const spans = (app: TestApp) => app.app.store.reader.selectFrom('agent_spans').selectAll().orderBy('id').execute();

/** A machine on which all agents have tokens and no usage exists yet. */
async function machine(app: TestApp, origin: string, agents = ['claude-code', 'codex', 'cursor']) {
  const env = { HOME: temporaryFolder() };
  const tokens = await Promise.all(agents.map(async (agent) => [agent, (await app.developer('ana', agent)).token] as const));
  storeTokens(env, origin, Object.fromEntries(tokens));
  beginUsage(env, origin, Date.now() - 60_000);
  return env;
}

const useEverything = (home: string, at = 1) => {
  writeLines(transcriptPath(home, `run-${at}`), [claudeLine(`msg_${at}`, 70 + at)]);
  writeLines(rolloutPath(home, `thread-${at}`), rolloutLines({ [`resp_${at}`]: 50 + at }));
  writeCodexLog(home, [{ body: wholeEntry(`resp_log_${at}`, 30 + at), thread: `kept-nowhere-${at}` }]);
  writeCursorStore(home, [{ id: `bubble-${at}`, tokens: { inputTokens: 100, outputTokens: 10 + at } }]);
};

test("reports each agent's usage once, with its own token", async () => {
  const { url, ...app } = await servedApp();
  const env = await machine(app, url);
  useEverything(env.HOME);
  expect(await syncUsage(env, { origin: url })).toMatchObject({ sent: 4, waiting: 0, problem: undefined });
  expect(await syncUsage(env, { origin: url })).toMatchObject({ sent: 0, sent_in_all: 4, waiting: 0 });
  expect((await spans(app)).map(({ source, agent_type, output_tokens }) => [source, agent_type, output_tokens])).toEqual([
    ['claude-code', 'claude-code', 71],
    ['codex', 'codex', 51],
    ['codex', 'codex', 31],
    ['cursor', 'cursor', 11],
  ]);
});

test('events wait while the server is unreachable, and are delivered once when it is back', async () => {
  const { url, ...app } = await servedApp();
  const traffic = await recordTraffic(url);
  const env = await machine(app, traffic.url);
  useEverything(env.HOME);
  traffic.down = true;
  expect(await syncUsage(env, { origin: traffic.url })).toMatchObject({ sent: 0, waiting: 4, problem: expect.stringMatching(/^server unreachable/) });
  useEverything(env.HOME, 2);
  expect(await syncUsage(env, { origin: traffic.url })).toMatchObject({ sent: 0, waiting: 8 });
  traffic.down = false;
  expect(await syncUsage(env, { origin: traffic.url })).toMatchObject({ sent: 8, waiting: 0 });
  expect(await spans(app)).toHaveLength(8);
});

test('of two concurrent syncs only one reports, and the other does nothing', async () => {
  const { url, ...app } = await servedApp();
  const env = await machine(app, url);
  useEverything(env.HOME);
  const both = await Promise.all([syncUsage(env, { origin: url }), syncUsage(env, { origin: url })]);
  expect(both.map(({ sent, heldBy }) => [sent, heldBy])).toEqual([
    [4, undefined],
    [0, process.pid],
  ]);
  expect(await spans(app)).toHaveLength(4);
});

test("usage of an agent without a token is not reported with another agent's token, but later with the agent's own token", async () => {
  const { url, ...app } = await servedApp();
  const env = await machine(app, url, ['codex']);
  useEverything(env.HOME);
  expect(await syncUsage(env, { origin: url })).toMatchObject({ sent: 2, waiting: 0 });
  storeTokens(env, url, { 'claude-code': (await app.developer('ana', 'claude-code')).token });
  expect(await syncUsage(env, { origin: url })).toMatchObject({ sent: 1 });
  expect((await spans(app)).map(({ agent_type }) => agent_type)).toEqual(['codex', 'codex', 'claude-code']);
});

test('if a store is unreadable, usage from the other stores is still reported', async () => {
  const { url, ...app } = await servedApp();
  const env = await machine(app, url);
  useEverything(env.HOME);
  writeFileSync(cursorStore(env), 'no database');
  writeFileSync(join(env.HOME, '.codex/logs_3.sqlite'), '');
  const synced = await syncUsage(env, { origin: url });
  expect(synced).toMatchObject({ sent: 2, problem: undefined });
  expect(synced.unread).toEqual(['codex-log', 'cursor'].map((source) => expect.stringMatching(new RegExp(`^the usage in ${source} cannot be read now`))));
});

test('stored tokens go only to the server that issued them', async () => {
  const { url, ...app } = await servedApp();
  const traffic = await recordTraffic(url);
  const env = await machine(app, url);
  useEverything(env.HOME);
  expect(await syncUsage(env, { origin: traffic.url, since: 0 })).toMatchObject({ sent: 0, waiting: 0 });
  expect(traffic.sent).toEqual([]);
});

test('usage from before the first start is reported only with --since', async () => {
  const { url, ...app } = await servedApp();
  const env = { HOME: temporaryFolder(), COVIBE_MCP_TOKEN: (await app.developer('ana')).token };
  writeLines(transcriptPath(env.HOME), [claudeLine('old', 5, { at: new Date(Date.now() - 3_600_000).toISOString() })]);
  expect(await syncUsage(env, { origin: url })).toMatchObject({ sent: 0, waiting: 0 });
  expect(await syncUsage(env, { origin: url, since: Date.now() - 86_400_000 })).toMatchObject({ sent: 1 });
});

test('a run that reports before any watcher was started reports only its own usage, from its own start', async () => {
  const { url, ...app } = await servedApp();
  const env = { HOME: temporaryFolder(), COVIBE_MCP_TOKEN: (await app.developer('ana')).token };
  writeLines(transcriptPath(env.HOME, 'other'), [claudeLine('other', 9)]);
  const only = writeLines(transcriptPath(env.HOME), [claudeLine('one', 5, { at: new Date(Date.now() + 30_000).toISOString() })]);
  expect(await syncUsage(env, { origin: url, sources: ['claude-code'], only, now: Date.now() + 60_000 })).toMatchObject({ sent: 1 });
});

test("links a run's usage to its session, and reports it without a session if the session belongs to someone else", async () => {
  const { url, ...app } = await servedApp();
  const env = await machine(app, url);
  const ana = await app.developer('ana');
  const started = await app.tool('covibe_session', { operation: 'start' }, ana);
  const { session_id } = (started.body as { data: { session_id: string } }).data;
  const [one, two] = [
    writeLines(transcriptPath(env.HOME, 'a'), [claudeLine('m1', 5, { stop: null })]),
    writeLines(transcriptPath(env.HOME, 'b'), [claudeLine('m2', 6)]),
  ];
  expect(await syncUsage(env, { origin: url, sources: ['claude-code'], only: one, session_id })).toMatchObject({ sent: 1 });
  expect(await syncUsage(env, { origin: url, sources: ['claude-code'], only: two, session_id: 'ses_somebody_elses' })).toMatchObject({ sent: 1 });
  expect((await spans(app)).map((span) => [span.output_tokens, span.session_id])).toEqual([
    [5, session_id],
    [6, null],
  ]);
});

test("the watcher also links the usage that it reads, including usage of subagents, to the run's session", async () => {
  const { url, ...app } = await servedApp();
  const env = await machine(app, url);
  const started = await app.tool('covibe_session', { operation: 'start' }, await app.developer('ana'));
  const { session_id } = (started.body as { data: { session_id: string } }).data;
  const run = writeLines(transcriptPath(env.HOME, 'a'), [claudeLine('m1', 5)]);
  writeLines(transcriptPath(env.HOME, 'a/subagents/agent-1'), [claudeLine('m2', 6)]);
  writeLines(transcriptPath(env.HOME, 'b'), [claudeLine('m3', 7)]);
  noteSession(env, run, session_id, Date.now());
  expect(await syncUsage(env, { origin: url })).toMatchObject({ sent: 3 });
  expect((await spans(app)).map((span) => [span.output_tokens, span.session_id]).sort()).toEqual([
    [5, session_id],
    [6, session_id],
    [7, null],
  ]);
});

test('a rejected token delays the events of its agent and no other events', async () => {
  const { url, ...app } = await servedApp();
  const env = await machine(app, url, ['codex', 'cursor']);
  storeTokens(env, url, { 'claude-code': 'cv_revoked' });
  useEverything(env.HOME);
  expect(await syncUsage(env, { origin: url })).toMatchObject({ sent: 3, waiting: 1, problem: expect.stringContaining('rejects the token') });
  storeTokens(env, url, { 'claude-code': (await app.developer('ana', 'claude-code')).token });
  expect(await syncUsage(env, { origin: url })).toMatchObject({ sent: 1, waiting: 0 });
});

test('an event that the server cannot accept now waits, and the other events are sent', async () => {
  const refusing = createServer(async (incoming, outgoing) => {
    const { arguments: said } = (await json(incoming)) as { arguments: { payload: { usage: { output_tokens: number } } } };
    const isPoison = said.payload.usage.output_tokens === 70;
    outgoing.writeHead(isPoison ? 500 : 200).end(JSON.stringify(isPoison ? { status: 'error', data: { code: 'INTERNAL' } } : { status: 'ok', data: {} }));
  });
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
  whenOver(() => void refusing.close());
  const origin = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`;
  const env = { HOME: temporaryFolder(), COVIBE_MCP_TOKEN: 'cv_any' };
  beginUsage(env, origin, Date.now() - 60_000);
  writeLines(
    transcriptPath(env.HOME),
    [70, 71, 72].map((output) => claudeLine(`msg_${output}`, output)),
  );
  expect(await syncUsage(env, { origin })).toMatchObject({ sent: 2, waiting: 1, problem: 'the server does not accept usage now (INTERNAL)' });
});

test('reads only the inboxes of repositories in which an agent was active [companion.repos.registered-by-activity]', async () => {
  const { url, ...app } = await servedApp();
  const env = { HOME: temporaryFolder(), COVIBE_MCP_TOKEN: (await app.developer('ana')).token };
  const [active, other] = [temporaryFolder(), temporaryFolder()];
  for (const [at, root] of [active, other].entries()) {
    mkdirSync(inboxOf(root), { recursive: true });
    writeFileSync(join(inboxOf(root), 'codex-1.json'), JSON.stringify({ usage: { input_tokens: 9 + at, output_tokens: 1 } }));
  }
  const broken = join(inboxOf(active), 'broken.json');
  writeFileSync(broken, `{ ${CANARY}`);
  noteRepo(env, { checkout: active, repo: 'shop' }, Date.now());
  // The writer of this file may still be writing it.
  expect(await syncUsage(env, { origin: url })).toMatchObject({ sent: 1, rejected: 0, unread: [expect.stringContaining('incomplete JSON')] });
  utimesSync(broken, 1, 1);
  expect(await syncUsage(env, { origin: url })).toMatchObject({ sent: 0, rejected: 1, waiting: 0 });
  expect(readdirSync(inboxOf(active))).toEqual(['rejected', 'sent']);
  expect(readdirSync(inboxOf(other))).toEqual(['codex-1.json']);
  expect((await spans(app)).map(({ input_tokens }) => input_tokens)).toEqual([9]);
});

test('a file stays in the inbox until the server has all its events, and each event counts once', async () => {
  const { url, ...app } = await servedApp();
  const traffic = await recordTraffic(url);
  const env = { HOME: temporaryFolder(), COVIBE_MCP_TOKEN: (await app.developer('ana')).token };
  const folder = join(temporaryFolder(), 'inbox');
  mkdirSync(folder);
  const counts = (input_tokens: number) => ({ source: 'proxy', payload: { direct_counts: { model: 'gpt-5', input_tokens, output_tokens: 1 } } });
  writeFileSync(join(folder, 'a.json'), JSON.stringify([counts(1), counts(2)]));
  traffic.down = true;
  expect(await syncUsage(env, { origin: traffic.url, inboxes: [folder] })).toMatchObject({ sent: 0, waiting: 2 });
  expect(readdirSync(folder)).toEqual(['a.json']);
  traffic.down = false;
  expect(await syncUsage(env, { origin: traffic.url, inboxes: [folder] })).toMatchObject({ sent: 2, waiting: 0 });
  expect(readdirSync(folder)).toEqual(['sent']);
  expect(await spans(app)).toHaveLength(2);
});

test('no text from the stores is sent, stored or logged [companion.privacy.content-stays-local] [companion.watch.numeric-only]', async () => {
  const { url, ...app } = await servedApp();
  const traffic = await recordTraffic(url);
  const env = await machine(app, traffic.url);
  useEverything(env.HOME);
  writeCodexLog(env.HOME, [{ body: countedEntry(70), target: 'codex_otel.log_only', thread: 'thread-7' }]);
  writeCursorStore(env.HOME, [{ id: CANARY, tokens: { inputTokens: 1, outputTokens: 1 }, model: CANARY }]);
  const root = temporaryFolder();
  mkdirSync(inboxOf(root), { recursive: true });
  const planted = { prompt: CANARY, model: 'gpt-5', id: CANARY, messages: [{ content: CANARY }] };
  writeFileSync(
    join(inboxOf(root), 'a.json'),
    JSON.stringify({ source: 'codex', payload: { ...planted, usage: { input_tokens: 5, output_tokens: 1, note: CANARY } } }),
  );
  writeFileSync(join(inboxOf(root), 'b.json'), JSON.stringify({ ...planted, usage: { total_tokens: 9 } }));
  noteRepo(env, { checkout: root, repo: 'shop' }, Date.now());
  expect(await syncUsage(env, { origin: traffic.url })).toMatchObject({ sent: 7, rejected: 1, waiting: 0 });
  expect(traffic.sent).toHaveLength(7);
  const ledger = readdirSync(join(env.HOME, '.covibe/ledger')).map((name) => readFileSync(join(env.HOME, '.covibe/ledger', name), 'latin1'));
  const stored = readdirSync(app.database.home).map((name) => readFileSync(join(app.database.home, name), 'latin1'));
  const journal = JSON.stringify(await app.events());
  for (const text of [...traffic.sent, ...app.logged, ...stored, ...ledger, journal]) expect(text).not.toContain('CANARY');
});
