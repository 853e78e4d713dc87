import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { edit, type HooksApp, hooksApp, REPO } from '../../testing/scenes/hooks.ts';
import { temporaryRepository } from '../../testing/scenes/repository.ts';

async function served() {
  const t = await hooksApp();
  const { url } = await t.serve();
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}, token = t.claude.token) => {
    const response = await fetch(`${url}/api/hooks/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Record<string, never> };
  };
  return { ...t, url, post };
}

/** Returns everything that the server has written: every row on disk, and the log. */
async function kept({ app, database, logged }: HooksApp): Promise<string> {
  const files = readdirSync(database.home).map((name) => readFileSync(join(database.home, name)).toString('latin1'));
  const rows: unknown[] = [];
  for (const { name } of await app.store.reader.introspection.getTables()) {
    rows.push(
      ...(await app.store.reader
        .selectFrom(name as 'events')
        .selectAll()
        .execute()),
    );
  }
  return [...files, JSON.stringify(rows), ...logged].join('\n');
}

const CANARY = 'canary-4c1f';

/** A payload as Claude Code sends it, with all its private content. */
const native = (event: string, cwd: string, more: object = {}) => ({
  session_id: 'run-http',
  transcript_path: `/home/ana/${CANARY}.jsonl`,
  cwd,
  permission_mode: 'default',
  hook_event_name: event,
  prompt: `Tell nobody: ${CANARY}`,
  tool_name: 'Write',
  tool_input: { file_path: join(cwd, 'src/a.ts'), content: CANARY, command: `echo ${CANARY}`, description: CANARY },
  tool_response: { stdout: CANARY, content: [{ type: 'text', text: CANARY }] },
  last_assistant_message: CANARY,
  ...more,
});

test("answers Claude Code's own payload in its format, and stores no prompt, content or command", async () => {
  const t = await served();
  const { path: cwd, git } = temporaryRepository();
  git(['remote', 'add', 'origin', `https://${REPO}.git`]);
  const before = () => t.post('claude-code/before-tool', native('PreToolUse', cwd));
  const free = await before();
  expect([free.status, free.body, free.headers.get('x-covenant-fail-closed')]).toEqual([200, {}, '0']);
  const claim = await t.claimed(['src/**'], t.cursor, { reason: 'retries' });
  const denied = await before();
  expect([denied.status, denied.body]).toEqual([
    200,
    {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: expect.stringMatching(
          /^This edit was not made\. src\/a\.ts: claimed \(exclusive\) by ben until .*, for "retries"\. Ask the holder/,
        ),
      },
    },
  ]);
  await t.call('covibe_coordination', 'ask', { to: 'ana', message: 'Which port?' }, t.cursor);
  const after = await t.post('claude-code/after-tool', native('PostToolUse', cwd));
  expect(after.body).toMatchObject({ hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: expect.stringContaining('"Which port?"') } });
  for (const [event, name] of [
    ['prompt', 'UserPromptSubmit'],
    ['session-start', 'SessionStart'],
    ['stop', 'Stop'],
    ['session-end', 'SessionEnd'],
  ]) {
    const { status, text } = await t.post(`claude-code/${event}`, native(name as string, cwd));
    expect([event, status]).toEqual([event, 200]);
    expect(text).not.toContain(CANARY);
  }
  const all = await kept(t);
  expect(all).toContain('run-http');
  expect(all).toContain(claim);
  expect(all).not.toContain(CANARY);
});

test("refuses a program's own payload from another machine or of another program, stores nothing of it, and returns the reason", async () => {
  const t = await served();
  const attempts = [
    t.post('claude-code/before-tool', native('PreToolUse', '/w'), { 'x-forwarded-for': '192.0.2.7' }),
    t.post('claude-code/prompt', native('UserPromptSubmit', '/w'), { forwarded: 'for=192.0.2.7' }),
    t.post('claude-code/prompt', native('UserPromptSubmit', '/w'), { via: '1.1 gate' }),
    t.post('claude-code/prompt', native('UserPromptSubmit', '/w'), { 'x-real-ip': '192.0.2.7' }),
    t.post('codex/before-tool', native('PreToolUse', '/w')),
  ];
  for (const { status, body, text } of await Promise.all(attempts)) {
    expect(status).toBe(403);
    expect(body).toMatchObject({
      status: 'error',
      message: expect.stringContaining('contains prompts and file contents'),
      data: { code: 'NATIVE_PAYLOAD', field: 'hook_event_name' },
    });
    expect(body).toMatchObject({ feedback: { required_action: expect.stringContaining('covibe-local hook') } });
    expect(text).not.toContain(CANARY);
  }
  expect(await t.run('run-http')).toBeUndefined();
  expect(await kept(t)).not.toContain(CANARY);
});

test('answers a hook question of an authorized caller, and refuses an unknown field without repeating its value', async () => {
  const t = await served();
  await t.claimed(['src/**'], t.cursor);
  const question = { client_session: 'run-1', folder: '/w', repo: REPO, branch: 'main', tool: 'Write', ...edit('src/a.ts') };
  expect((await t.post('codex/before-tool', question, { 'x-forwarded-for': '192.0.2.7' })).body).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'deny' },
  });
  const commit = await t.post('git/commit', { ...edit('src/a.ts'), person: true });
  expect(commit.body).toMatchObject({ decision: 'deny', reason: expect.stringContaining('This commit was not made.') });
  const strange = await t.post('codex/before-tool', { ...question, prompt: CANARY, tool: { name: CANARY }, model: 'x'.repeat(101) });
  expect([strange.status, strange.body]).toMatchObject([400, { code: 'INVALID_INPUT', issues: [{ field: 'model' }, { field: 'tool' }, { field: 'prompt' }] }]);
  const refusals: [string, unknown, number][] = [
    ['codex/before-tool', `{"prompt":"${CANARY}"`, 400],
    ['codex/before-tool', `["${CANARY}"]`, 400],
    ['codex/before-tool', `{"folder":"${CANARY.repeat(800_000)}"}`, 413],
    ['emacs/before-tool', { folder: CANARY }, 404],
    ['codex/toString', { folder: CANARY }, 404],
    ['toString/before-tool', { folder: CANARY }, 404],
  ];
  for (const [path, body, expected] of refusals) {
    const { status, text } = await t.post(path, body);
    expect([path, status]).toEqual([path, expected]);
    expect(text).not.toContain(CANARY);
  }
  expect((await t.post('codex/before-tool', question, {}, 'cv_wrong')).status).toBe(401);
  expect((await t.post('codex/before-tool', question, {}, t.operator.token)).text).toContain("developer's or agent's token");
  expect(strange.text).not.toContain(CANARY);
  expect(await kept(t)).not.toContain(CANARY);
});

test('the headers of each answer contain whether the workspace blocks edits while the server is unreachable', async () => {
  const t = await served();
  await t.done('settings.set', { key: 'hooks.fail_closed', value: 1 });
  expect((await t.post('gemini/before-tool', { client_session: 'g' })).headers.get('x-covenant-fail-closed')).toBe('1');
});
