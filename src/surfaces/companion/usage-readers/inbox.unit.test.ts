import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPayload, type Source } from '../../../features/team/usage/sources.ts';
import { CANARY } from '../../../testing/stand-ins/usage-stores.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { BrokenFile, inboxesIn, inboxFiles, inboxOf, keepRejected, keepSent, readInboxFile, UnfinishedFile } from './inbox.ts';
import { countedOnly } from './payload.ts';

const openai = {
  model: 'gpt-5',
  usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 60 }, output_tokens: 20, output_tokens_details: { reasoning_tokens: 5 } },
};
const anthropic = {
  model: 'claude-opus-4-5',
  usage: {
    input_tokens: 10,
    cache_read_input_tokens: 500,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_1h_input_tokens: 20 },
    output_tokens: 9,
  },
  total_cost_usd: 0.25,
};
const perModel = {
  modelUsage: { 'claude-opus-4-5': { inputTokens: 10, outputTokens: 9, costUSD: 0.5 }, 'claude-haiku-4-5': { inputTokens: 7, outputTokens: 3, costUSD: 0.1 } },
};
const gemini = {
  modelVersion: 'gemini-2.5-pro',
  usageMetadata: { promptTokenCount: 100, cachedContentTokenCount: 40, candidatesTokenCount: 20, thoughtsTokenCount: 30 },
};
const direct = {
  direct_counts: [
    { model: 'gpt-5', input_tokens: 4, output_tokens: 2, cost_usd: 0.01 },
    { inputTokens: 9, outputTokens: 1, cacheReadTokens: 3 },
  ],
};
const attribute = (key: string, value: unknown) => ({ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } });
const otel = {
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: [
            {
              name: CANARY,
              attributes: [
                attribute('gen_ai.request.model', 'gpt-5'),
                attribute('gen_ai.usage.input_tokens', 9),
                attribute('gen_ai.usage.output_tokens', 1),
                attribute('gen_ai.prompt', CANARY),
              ],
            },
          ],
        },
      ],
    },
  ],
};

test.each<[Source, Record<string, unknown>]>([
  ['codex', openai],
  ['openai', openai],
  ['claude', anthropic],
  ['claude-code', perModel],
  ['anthropic', anthropic],
  ['gemini', gemini],
  ['cursor', direct],
  ['proxy', direct],
  ['harness', openai],
  ['provider', gemini],
  ['otel', otel],
])('the payload sent for %s parses to the same counters as the original and contains nothing else', (source, payload) => {
  const planted = { ...payload, prompt: CANARY, messages: [{ content: CANARY }], id: CANARY, metadata: { user: CANARY } };
  const counted = countedOnly(source, planted);
  const counters = (given: Record<string, unknown>) => readPayload(source, given).map(({ provider: _, ...span }) => span);
  expect(counters(counted)).toEqual(counters(payload));
  expect(JSON.stringify(counted)).not.toContain('CANARY');
});

const inbox = (files: Readonly<Record<string, unknown>>): string => {
  const folder = join(temporaryFolder(), '.covibe/telemetry');
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  return folder;
};
const eventsIn = (folder: string) => inboxFiles(folder).flatMap((path) => readInboxFile(path).events);

test("a file contains one entry, several entries, or a provider's usage object whose source follows from its fields or file name", () => {
  const folder = inbox({
    'a.json': { source: 'codex', payload: openai, submitted_cost: 0.5, session_id: 'ses_1' },
    'b.json': [
      { source: 'claude', payload: anthropic },
      { source: 'proxy', payload: direct },
    ],
    'c.json': otel,
    'claude-code-1.json': anthropic,
    'codex-1.json': openai,
    'd.json': gemini,
    'e.json.tmp': '{',
  });
  expect(eventsIn(folder).map(({ source, agent, session_id, submitted_cost }) => [source, agent, session_id, submitted_cost])).toEqual([
    ['codex', 'codex', 'ses_1', 0.5],
    ['claude', 'claude-code', undefined, undefined],
    ['proxy', undefined, undefined, undefined],
    ['otel', undefined, undefined, undefined],
    ['claude-code', 'claude-code', undefined, undefined],
    ['codex', 'codex', undefined, undefined],
    ['provider', undefined, undefined, undefined],
  ]);
  expect(eventsIn(folder)).toEqual(eventsIn(folder));
});

test.each([
  ['invalid JSON', `{ ${CANARY}`, 'The file is not JSON.'],
  ['no object', '"text"', 'The file is not a JSON object.'],
  ['no such source', { source: CANARY, payload: openai }, /^The file names an unknown source\. Expected one of claude, /],
  ['no split counters', { source: 'codex', payload: { usage: { total_tokens: 9 }, note: CANARY } }, 'The file has no token counters in the format of codex.'],
  [
    'one entry without',
    [
      { source: 'codex', payload: openai },
      { source: 'codex', payload: {} },
    ],
    'Entry 2 has no token counters in the format of codex.',
  ],
])('a file with %s is rejected with a reason that quotes nothing from it [companion.watch.no-split-no-event]', (_, content, message) => {
  const [path = ''] = inboxFiles(inbox({ 'a.json': content }));
  utimesSync(path, 1, 1);
  expect(() => readInboxFile(path)).toThrow(BrokenFile);
  expect(() => readInboxFile(path)).toThrow(message);
});

test('equal entries without an id are separate uses, in one file or in two. Entries with the same id are a single use', () => {
  const bare = { source: 'proxy', payload: { user_id: 'ana', direct_counts: { model: 'gpt-5', input_tokens: 4, output_tokens: 2 } } };
  const named = { source: 'openai', payload: { id: 'resp_1', ...openai } };
  const folder = inbox({ 'a.json': [bare, named, bare, named, { ...bare, id: 1 }, { ...bare, id: 2 }], 'b.json': [bare, named, { ...bare, id: 1 }] });
  const ids = eventsIn(folder).map(({ id }) => id);
  const [a1, n1, a2, n2, w1, w2, b1, n3, w3] = ids;
  expect(new Set([a1, a2, b1, w1, w2]).size).toBe(5);
  expect([n2, n3, w3]).toEqual([n1, n1, w1]);
  // Appending to the same file does not change the earlier entries.
  writeFileSync(join(folder, 'a.json'), JSON.stringify([bare, named, bare, bare]));
  expect(
    eventsIn(folder)
      .slice(0, 3)
      .map(({ id }) => id),
  ).toEqual([a1, n1, a2]);
});

test('an inbox keeps only the latest delivered files, and a folder named sent outside an inbox is not changed', () => {
  const [own, other] = [realpathSync(inbox({})), temporaryFolder()];
  for (const folder of [own, other]) {
    mkdirSync(join(folder, 'sent'));
    for (let at = 0; at < 501; at++) writeFileSync(join(folder, `sent/${String(at).padStart(3, '0')}.json`), '');
    writeFileSync(join(folder, 'z.json'), '{}');
    keepSent(join(folder, 'z.json'));
  }
  expect([own, other].map((folder) => readdirSync(join(folder, 'sent')).length)).toEqual([500, 502]);
});

test('a sent or rejected file is kept, and never replaces another file', () => {
  const folder = inbox({ 'a.json': openai, 'b.json': '{' });
  keepSent(join(folder, 'a.json'));
  keepRejected(join(folder, 'b.json'), 'why');
  writeFileSync(join(folder, 'b.json'), '{ again');
  keepRejected(join(folder, 'b.json'), 'again');
  expect(inboxFiles(folder)).toEqual([]);
  expect(existsSync(join(folder, 'sent/a.json'))).toBe(true);
  expect(readFileSync(join(folder, 'rejected/b.json'), 'utf8')).toBe('{');
  expect(readFileSync(join(folder, 'rejected/b.json.reason'), 'utf8')).toBe('why\n');
  expect(readdirSync(join(folder, 'rejected'))).toHaveLength(4);
});

test('a folder that the repository links to is not its inbox: nothing is moved or written there', () => {
  const [own, linked, victim] = [realpathSync(temporaryFolder()), temporaryFolder(), temporaryFolder()];
  mkdirSync(inboxOf(own), { recursive: true });
  mkdirSync(join(linked, '.covibe'));
  symlinkSync(victim, inboxOf(linked));
  expect(inboxesIn([own, linked, '/nowhere'])).toEqual([inboxOf(own)]);
  for (const [name, keep] of [
    ['sent', keepSent],
    ['rejected', (path: string) => keepRejected(path, 'why')],
  ] as const) {
    symlinkSync(victim, join(inboxOf(own), name));
    const file = join(inboxOf(own), `${name}.json`);
    writeFileSync(file, '{}');
    expect(() => keep(file)).toThrow('is a link, not a folder');
    expect(existsSync(file)).toBe(true);
  }
  expect(readdirSync(victim)).toEqual([]);
});

test('writes the reason of a rejection next to the file, and never through a link', () => {
  const [folder, victim] = [temporaryFolder(), join(temporaryFolder(), 'profile')];
  writeFileSync(victim, 'mine');
  writeFileSync(join(folder, 'a.json'), '{}');
  mkdirSync(join(folder, 'rejected'));
  symlinkSync(victim, join(folder, 'rejected/a.json.reason'));
  keepRejected(join(folder, 'a.json'), 'why');
  expect([readFileSync(victim, 'utf8'), readFileSync(join(folder, 'rejected/a.json.reason'), 'utf8')]).toEqual(['mine', 'why\n']);
});

test('rejects a file with incomplete JSON only if it has not changed for a while, because its writer may still be writing it', () => {
  const path = join(temporaryFolder(), 'a.json');
  writeFileSync(path, '{"usage": {"input_to');
  expect(() => readInboxFile(path)).toThrow(UnfinishedFile);
  utimesSync(path, 1, 1);
  expect(() => readInboxFile(path)).toThrow(BrokenFile);
});
