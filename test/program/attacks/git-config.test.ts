import { chmodSync, existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { endTmux, processesNaming } from '../../../src/testing/programs/processes.ts';
import { covenant, direct, startProgram } from '../../../src/testing/programs/program.ts';
import { repositoryOnGitHub } from '../../../src/testing/scenes/pulls.ts';
import { fakeGitHub } from '../../../src/testing/stand-ins/github.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';
import { until } from '../../../src/testing/until.ts';

test('a repository whose configuration names programs and other addresses runs none of them and gets no token [harden.git.no-programs] [harden.git.no-redirects] [harden.git.github-token]', async () => {
  const github = await fakeGitHub();
  onTestFinished(() => github.stop());
  const came: string[] = [];
  const stranger = createServer((request, response) => {
    came.push(`${request.url} ${request.headers.authorization ?? ''}`);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void stranger.close());
  const elsewhere = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;

  const { repository, origin, userConfig } = repositoryOnGitHub();
  const folder = temporaryFolder();
  const [mark, program, token] = [join(folder, 'marks'), join(folder, 'program'), join(folder, 'token')];
  writeFileSync(program, `#!/bin/sh\necho "$0 $* $COVENANT_REMOTE_PASSWORD" >> '${mark}'\ncat\n`);
  chmodSync(program, 0o755);
  repository.commit('.gitattributes', '* filter=evil\n');
  repository.git(['push', '--quiet', 'origin', 'main']);
  const settings: Record<string, string> = {
    'filter.evil.clean': program,
    'filter.evil.smudge': program,
    'core.fsmonitor': program,
    'core.hooksPath': folder,
    'core.sshCommand': program,
    'credential.helper': `!${program}`,
    'remote.origin.pushurl': `${elsewhere}/pushurl`,
    [`url.${elsewhere}/instead/.insteadOf`]: 'https://github.com/acme/',
    [`url.${elsewhere}/push/.pushInsteadOf`]: 'https://github.com/acme/',
    'http.proxy': `${elsewhere}/proxy`,
  };
  for (const [key, value] of Object.entries(settings)) repository.git(['config', key, value]);
  for (const hook of ['post-checkout', 'pre-push', 'reference-transaction']) {
    writeFileSync(join(folder, hook), `#!/bin/sh\necho ${hook} >> '${mark}'\n`);
    chmodSync(join(folder, hook), 0o755);
  }

  const home = temporaryFolder();
  onTestFinished(() => endTmux(home));
  // The agent does nothing, so that all git processes in this test are started by the server.
  const launcher = `[launchers.idle]\ncommand = "sh"\nargs = ["-c", "printenv COVIBE_MCP_TOKEN > '${token}'; sleep 60"]\nprompt = "file"\n`;
  writeFileSync(join(home, 'config.toml'), `${github.config}\n${launcher}`);
  const at = { home, cwd: repository.path, env: { GITHUB_TOKEN: github.token, GIT_CONFIG_GLOBAL: userConfig } };
  const { url } = await startProgram(at);
  const run = async (...args: string[]) => (await covenant(at, ...args, '--json')).json;
  const { instance } = (await run('instances', 'start', '--repo', repository.path, '--agent', 'idle', '--type', 'coding', '--prompt', 'x')) as {
    instance: { id: string; branch: string; worktree_path: string };
  };
  onTestFinished(async () => void (await run('instances', 'stop', instance.id)));
  await until(() => expect(existsSync(token) && readFileSync(token, 'utf8').trim()).toMatch(/^cv_/));

  // Commit only a part of the work.
  const plain = ['-c', 'filter.evil.clean=', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
  writeFileSync(join(instance.worktree_path, 'work.txt'), 'work\n');
  repository.git([...plain, 'add', 'work.txt'], instance.worktree_path);
  repository.git([...plain, 'commit', '--quiet', '-m', 'Work'], instance.worktree_path);
  writeFileSync(join(instance.worktree_path, 'file-0.txt'), '1\n');
  const soon = new Date(Date.now() + 5_000);
  utimesSync(join(instance.worktree_path, 'work.txt'), soon, soon);

  const made = await direct(url, readFileSync(token, 'utf8').trim(), 'create_pull_request', { title: 'Work', description: 'x' });
  expect(made.body).toMatchObject({ pr_number: 1 });
  expect(repository.git([...plain, 'rev-parse', instance.branch], origin)).toBe(repository.git([...plain, 'rev-parse', instance.branch]));
  await run('instances', 'diff', instance.id);
  await run('instances', 'stop', instance.id);
  expect(await covenant(at, 'instances', 'clean', instance.id)).toMatchObject({ stdout: expect.stringContaining('--force') });
  const { backup_ref } = await run('instances', 'clean', instance.id, '--force', '--yes');
  expect(repository.git([...plain, 'show', `${backup_ref}:file-0.txt`])).toBe('1');
  expect([existsSync(mark) ? readFileSync(mark, 'utf8') : '', came]).toEqual(['', []]);
  await expect.poll(() => processesNaming(home)).toEqual([]);
}, 60_000);
