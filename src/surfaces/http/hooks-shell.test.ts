import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hooksApp, REPO } from '../../testing/scenes/hooks.ts';
import { temporaryRepository } from '../../testing/scenes/repository.ts';

test('denies a shell command that changes a folder with a claimed file, and allows other commands', async () => {
  const t = await hooksApp();
  const { url } = await t.serve();
  const { path: cwd, git, write } = temporaryRepository();
  git(['remote', 'add', 'origin', `https://${REPO}.git`]);
  for (const file of ['src/upload/retry.ts', 'src/other.ts', 'docs/a.md', 'x/new.ts']) write(file, '');
  symlinkSync('src', join(cwd, 'current'));
  const elsewhere = temporaryRepository();
  elsewhere.git(['remote', 'add', 'origin', `https://${REPO}.git`]);
  await t.claimed(['src/upload/**'], t.cursor);
  const decided = async (command: string) => {
    const response = await fetch(`${url}/api/hooks/claude-code/before-tool`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${t.claude.token}` },
      body: JSON.stringify({ hook_event_name: 'PreToolUse', session_id: 'run-shell', cwd, tool_name: 'Bash', tool_input: { command } }),
    });
    const { hookSpecificOutput } = (await response.json()) as { hookSpecificOutput?: { permissionDecision: string } };
    return [command, hookSpecificOutput?.permissionDecision ?? 'allow'];
  };
  const denied = [
    'rm -rf src',
    'mv src old',
    'git checkout -- src',
    'git checkout -- .',
    'git checkout .',
    'git restore .',
    'git rm -r src',
    'git clean -fd src',
    'git restore :/',
    'cd docs && git checkout -- :/src',
    'git stash push src',
    'rsync -a x/ src/',
    'cp -r x/. src',
    'cd docs && rm -rf ../src',
    `rm -rf ${cwd}`,
    `touch ${Array.from({ length: 501 }, (_, index) => `docs/${index}.md`).join(' ')}`,
    `cat > docs/long.md <<'E'\n${'x'.repeat(300_000)}\nE`,
  ];
  for (const command of denied) expect(await decided(command)).toEqual([command, 'deny']);
  const allowed = [
    'rm -rf docs',
    'mkdir -p src',
    'mkdir -p src/upload/deep',
    'cp docs/a.md src',
    'mv docs/a.md src/',
    'rm src/other.ts',
    'git checkout -- src/other.ts docs',
    'rsync -a x src/',
    'echo > src/up',
    'git checkout main',
    'git clean -fd',
    'git stash push -um src',
    'rm current',
    'mv current old',
    `rm -rf ${elsewhere.path}`,
  ];
  for (const command of allowed) expect(await decided(command)).toEqual([command, 'allow']);
});
