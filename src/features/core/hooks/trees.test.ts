import { expect, test } from 'vitest';
import { edit, hooksApp, MINUTE, REPO } from '../../../testing/scenes/hooks.ts';
import { MAX_EDITS } from '../../../wire/hook-question.ts';

const tree = (...paths: string[]) => ({ edits: paths.map((path) => ({ repo: REPO, path, tree: true })) });
const UNREAD = { repo: REPO, path: '.', tree: true, unread: true };

test('writing, moving or removing a folder is denied while another agent claims something in it, and the denial names the claimed path', async () => {
  const t = await hooksApp();
  await t.claimed(['lib/*.md', 'src/upload/**'], t.cursor);
  const until = new Date(t.clock.now() + 60 * MINUTE).toISOString();
  expect((await t.hear('before-tool', tree('src'))).reason).toMatch(
    new RegExp(`^This edit was not made\\. src/upload/\\*\\* in src: claimed \\(exclusive\\) by ben until ${until}\\. Ask `),
  );
  expect((await t.hear('before-tool', tree('.'))).reason).toContain('lib/*.md in the repository: claimed');
  expect((await t.hear('before-tool', tree('src/upload/deep'))).reason).toContain('. src/upload/deep: claimed');
  for (const free of ['src/up', 'src/upload.ts', 'src/uploads', 'docs', 'lib/sub']) {
    expect([free, (await t.hear('before-tool', tree(free))).decision]).toEqual([free, 'allow']);
  }
  expect((await t.hear('before-tool', { edits: [{ repo: 'github.com/acme/other', path: '.', tree: true }] })).decision).toBe('allow');
});

test('a claim that starts with a wildcard covers the folders that it names, not every folder that could contain a match', async () => {
  const t = await hooksApp();
  await t.claimed(['**/*.test.ts', '*/package.json', '?ocs/*.md', '**/upload'], t.cursor);
  expect((await t.hear('before-tool', tree('dist', 'node_modules', 'docs'))).decision).toBe('allow');
  expect((await t.hear('before-tool', tree('src/upload'))).reason).toContain('. src/upload: claimed');
  expect((await t.hear('before-tool', edit('dist/a.test.ts'))).decision).toBe('deny');
  expect((await t.hear('before-tool', tree('.'))).reason).toContain('**/*.test.ts in the repository: claimed');
  const some = await hooksApp();
  await some.claimed(['packages/*/src/**', 'lib-*/a.ts'], some.cursor);
  for (const held of ['packages', 'packages/a', 'lib-x']) expect((await some.hear('before-tool', tree(held))).decision).toBe('deny');
  for (const free of ['packages/a/dist', 'lib']) expect((await some.hear('before-tool', tree(free))).decision).toBe('allow');
});

test('an edit of a file is allowed even if its path is the beginning of a claimed path', async () => {
  const t = await hooksApp();
  await t.claimed(['src/upload/retry.ts'], t.cursor);
  expect((await t.hear('before-tool', edit('src', 'src/up', 'src/upload'))).decision).toBe('allow');
});

test("a claim of the whole repository denies edits of its folders and its top; an agent's own claim in a folder does not deny that agent's edits", async () => {
  const t = await hooksApp();
  await t.claimed(['src/upload/**'], t.claude);
  expect((await t.hear('before-tool', tree('.', 'src'))).decision).toBe('allow');
  const all = await hooksApp();
  await all.claimed(['**'], all.cursor);
  expect((await all.hear('before-tool', tree('.'))).decision).toBe('deny');
  expect((await all.hear('before-tool', tree('src'))).decision).toBe('deny');
});

test('a command that cannot be read in full is denied with next steps if others claim files in the repository; claims on its named files are reported first', async () => {
  const t = await hooksApp();
  const hear = (...edits: object[]) => t.hear('before-tool', { edits: edits as [] });
  expect((await hear(UNREAD)).decision).toBe('allow');
  await t.claimed(['src/**'], t.cursor, { repo: 'github.com/acme/other' });
  await t.claimed(['docs/**'], t.cursor, { mode: 'shared' });
  expect((await hear(UNREAD)).decision).toBe('allow');
  await t.claimed(['src/**'], t.cursor);
  const { reason } = await hear(UNREAD, { repo: REPO, path: 'README.md' });
  expect(reason).toContain(`names more than ${MAX_EDITS} files. Name fewer files in one command`);
  expect(reason).toContain('src/** in the repository: claimed (exclusive) by ben');
  expect((await hear(UNREAD, { repo: REPO, path: 'src/a.ts' })).reason).toMatch(/^This edit was not made\. src\/a\.ts: claimed/);
  expect(await t.events({ kind: 'edit.denied' })).toMatchObject([{ payload: { path: '.' } }, { payload: { path: 'src/a.ts' } }]);
});

test('a run remembers a limited number of denials', async () => {
  const t = await hooksApp();
  await t.begun('run-1');
  await t.claimed(['src/**'], t.cursor);
  for (let turn = 0; turn < 7; turn++) await t.hear('before-tool', edit(...Array.from({ length: 10 }, (_, index) => `src/${turn}-${index}.ts`)));
  expect(await t.events({ kind: 'edit.denied' })).toHaveLength(70);
  const remembered = Object.keys(JSON.parse((await t.run())?.denials ?? ''));
  expect(remembered).toHaveLength(50);
  expect(remembered.at(-1)).toContain('src/6-9.ts');
});

test('the server accepts the top of a working tree only as a folder, and a limited number of edits in one call', async () => {
  const t = await hooksApp();
  const hear = (edits: object[]) => t.action('hooks.hear', { client: 'codex', event: 'before-tool', edits }, t.claude);
  const many = (count: number) => Array.from({ length: count }, (_, index) => ({ repo: REPO, path: `f${index}` }));
  expect((await hear(many(MAX_EDITS))).reply.status).toBe('ok');
  expect((await hear(many(MAX_EDITS + 1))).reply).toMatchObject({ data: { issues: [{ field: 'edits' }] } });
  for (const path of ['..', './a', 'a/.', '']) expect((await hear([{ repo: REPO, path, tree: true }])).reply).toMatchObject({ code: 'INVALID_INPUT' });
});
