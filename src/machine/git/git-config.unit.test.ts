import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { gitState } from '../../surfaces/companion/git-state.ts';
import { pushedPaths, stagedPaths } from '../../surfaces/companion/guard/committed-paths.ts';
import { ADDRESS, repositoryOnGitHub } from '../../testing/scenes/pulls.ts';
import type { TestRepository } from '../../testing/scenes/repository.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { type GitDisk, gitDisk } from './disk.ts';
import { resolveCommit } from './git.ts';
import type { FileMerge } from './merge-file.ts';
import { withPassword } from './remote.ts';

/** Every configuration key with which a repository can make git run a program. `%` stands for a program that leaves a mark. */
const PROGRAMS: readonly (readonly [key: string, value: string])[] = [
  ['filter.evil=er.clean', '% filter.clean'],
  ['filter.evil=er.smudge', '% filter.smudge'],
  ['filter.evil=er.required', 'true'],
  ['filter.long.process', '% filter.process'],
  ['diff.evil.command', '% diff.command'],
  ['diff.evil.textconv', '% diff.textconv'],
  ['diff.external', '% diff.external'],
  ['merge.evil.driver', '% merge.driver'],
  ['core.fsmonitor', '%'],
  ['core.hooksPath', '%hooks'],
  ['core.sshCommand', '% sshCommand'],
  ['core.askPass', '%'],
  ['core.pager', '% pager'],
  ['pager.diff', '% pager.diff'],
  ['core.editor', '% editor'],
  ['core.gitProxy', '%'],
  ['core.alternateRefsCommand', '% alternateRefs'],
  ['credential.helper', '!% credential'],
  ['credential.https://github.com.helper', '!% credential.url'],
  ['gpg.program', '%'],
  ['gpg.ssh.program', '%'],
  ['log.showSignature', 'true'],
  ['commit.gpgSign', 'true'],
  ['push.gpgSign', 'true'],
  ['alias.status', '!% alias'],
  ['remote.origin.uploadpack', '% uploadpack'],
  ['remote.origin.receivepack', '% receivepack'],
  ['remote.origin.vcs', 'ext'],
  ['remote.origin.promisor', 'true'],
  ['remote.origin.partialCloneFilter', 'blob:none'],
  ['submodule.sub.update', '!% submodule.update'],
  ['submodule.recurse', 'true'],
  ['protocol.allow', 'always'],
  ['protocol.ext.allow', 'always'],
  ['trailer.x.command', '% trailer'],
  ['uploadpack.packObjectsHook', '% packObjects'],
  ['gc.auto', '1'],
  ['gc.recentObjectsHook', '% recentObjects'],
  ['status.submoduleSummary', 'true'],
];

/** Every configuration key that redirects git to another address. `@` stands for a server that records requests. */
const REDIRECTS: readonly (readonly [key: string, value: string])[] = [
  ['remote.origin.pushurl', '@pushurl'],
  ['remote.origin.proxy', '@remote-proxy'],
  ['url.@instead/.insteadOf', 'https://github.com/'],
  ['url.@push-instead/.pushInsteadOf', 'https://github.com/'],
  ['url.@longer/.insteadOf', ADDRESS],
  ['http.proxy', '@proxy'],
  ['http.https://github.com.proxy', '@proxy-of-host'],
  ['http.sslVerify', 'false'],
  ['http.cookieFile', '/dev/null'],
  ['branch.main.pushRemote', '@push-remote'],
];

const WHERE = {
  /** `.git/config` itself. */
  'in its config': (hostile: Hostile) => hostile.write(join(hostile.path, '.git/config')),
  'in a file that it includes': (hostile: Hostile) => {
    const file = join(temporaryFolder(), 'included');
    hostile.write(file);
    hostile.repository.git(['config', 'include.path', file]);
    hostile.repository.git(['config', `includeIf.gitdir:${dirname(hostile.path)}/.path`, file]);
  },
  'in the config of its worktrees': (hostile: Hostile) => {
    hostile.repository.git(['config', 'core.repositoryFormatVersion', '1']);
    hostile.repository.git(['config', 'extensions.worktreeConfig', 'true']);
    hostile.write(join(hostile.path, '.git/config.worktree'));
    hostile.write(join(hostile.path, '.git/worktrees/one/config.worktree'));
  },
};

interface Hostile {
  readonly path: string;
  readonly repository: TestRepository;
  write(file: string): void;
}

async function strangers() {
  const came: string[] = [];
  const server = createServer((request, response) => {
    came.push(request.url ?? '');
    response.writeHead(404).end();
  });
  server.on('connect', (request, socket) => {
    came.push(request.url ?? '');
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { came, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** A repository and one of its worktrees. Everything in them that can name a program names one that leaves a mark. */
async function hostileRepository(where: keyof typeof WHERE) {
  const { repository, origin } = repositoryOnGitHub();
  const { path } = repository;
  const { came, url } = await strangers();
  const mark = join(temporaryFolder(), 'marks');
  const program = join(temporaryFolder(), 'program');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${mark}'\ncat\n`);
  chmodSync(program, 0o755);
  mkdirSync(`${program}hooks`);
  for (const hook of ['post-checkout', 'pre-push', 'reference-transaction', 'post-index-change', 'pre-commit', 'pre-auto-gc', 'fsmonitor-watchman']) {
    for (const folder of [`${program}hooks`, join(path, '.git/hooks')]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, hook), `#!/bin/sh\necho "hook ${hook}" >> '${mark}'\n`);
      chmodSync(join(folder, hook), 0o755);
    }
  }
  rmSync(join(path, '.git/hooks'), { recursive: true });
  const inner = temporaryFolder();
  repository.git(['init', '--quiet', '--initial-branch=main', '.'], inner);
  repository.commit('inner.txt', 'inner\n', inner);
  repository.git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', '--name', 'sub', inner, 'sub']);
  repository.commit('.gitattributes', '* filter=evil=er diff=evil merge=evil\n*.long filter=long\n');
  repository.commit('a.long', 'a\n');
  repository.git(['push', '--quiet', 'origin', 'main']);
  const worktree = `${path}-worktrees/one`;
  repository.git(['worktree', 'add', '--quiet', '-b', 'work/one', worktree]);
  repository.commit('own.txt', 'own\n', worktree);
  const filled = (value: string) => value.replaceAll('%', program).replaceAll('@', url);
  const escaped = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  const write = (file: string) => {
    for (const [key, value] of [...PROGRAMS, ...REDIRECTS]) {
      const [section = '', name = ''] = [filled(key).slice(0, filled(key).lastIndexOf('.')), key.slice(key.lastIndexOf('.') + 1)];
      const [, group, of] = /^([^.]+)(?:\.(.*))?$/s.exec(section) ?? [];
      appendFileSync(file, `[${group}${of === undefined ? '' : ` "${escaped(of)}"`}]\n\t${name} = "${escaped(filled(value))}"\n`);
    }
  };
  // The submodule's own configuration, which git reads when it looks into it.
  write(join(path, '.git/modules/sub/config'));
  mkdirSync(join(path, '.git/modules/sub/info'), { recursive: true });
  writeFileSync(join(path, '.git/modules/sub/info/attributes'), '* filter=evil=er\n');
  WHERE[where]({ path, repository, write });
  mkdirSync(join(path, '.git/info'), { recursive: true });
  writeFileSync(join(path, '.git/info/attributes'), '* filter=evil=er diff=evil\n');
  const marks = () => (existsSync(mark) ? readFileSync(mark, 'utf8') : '');
  return { repository, path, worktree, origin, came, marks, forget: () => rmSync(mark, { force: true }) };
}

/** Git compares contents only if a file may have changed since it was staged. */
function touch(...files: string[]): void {
  const soon = new Date(Date.now() + 5_000);
  for (const file of files) utimesSync(file, soon, soon);
}

test.each(Object.keys(WHERE) as (keyof typeof WHERE)[])(
  'runs no program and contacts no server that a repository names %s, whatever the server does with git [harden.git.no-programs] [harden.git.no-redirects]',
  async (where) => {
    const { repository, path, worktree, origin, came, marks, forget } = await hostileRepository(where);
    const dirty = () => {
      writeFileSync(join(worktree, 'file-0.txt'), 'x\n');
      writeFileSync(join(worktree, 'a.long'), 'b\n');
      touch(join(worktree, 'own.txt'), join(path, 'sub/inner.txt'), join(path, 'file-0.txt'), join(path, 'a.long'));
    };
    dirty();
    // Proves that plain git runs the programs: otherwise this test would prove nothing.
    try {
      repository.git(['status'], worktree);
    } catch {}
    expect(marks()).not.toBe('');
    forget();
    came.length = 0;
    dirty();

    const main = (await resolveCommit(path, 'refs/heads/main')) as string;
    const tip = (await resolveCommit(path, 'refs/heads/work/one')) as string;
    const to = { address: (await gitDisk.originOf(path)) as string, access: withPassword(ADDRESS, 'ghp_secret') };
    const against = { branch: 'work/one', base: 'main', mergeCommit: main, passing: 'work/' };
    const compared = { folder: worktree, from: main, to: null };
    const added = `${path}-worktrees/two`;
    const merge: FileMerge = {
      worktree,
      branch: 'work/one',
      file: 'FEEDBACK.md',
      text: 'do\n',
      about: tip,
      author: { name: 'R', email: 'r@localhost' },
      subject: 'Feedback',
      key: 'k',
    };
    // Every operation of the server. The compiler reports a missing one.
    const does: { [K in keyof GitDisk]: () => Promise<unknown> } = {
      locateRepository: () => gitDisk.locateRepository(path),
      startingPoint: () => gitDisk.startingPoint(path),
      currentBranch: () => gitDisk.currentBranch(worktree),
      resolveCommit: () => gitDisk.resolveCommit(path, 'HEAD'),
      commitByHash: () => gitDisk.commitByHash(path, main.slice(0, 10)),
      requireBranchName: () => gitDisk.requireBranchName(path, 'x'),
      hasWorktree: () => gitDisk.hasWorktree(path, worktree),
      listWorktrees: () => gitDisk.listWorktrees(path),
      worktreeState: () => gitDisk.worktreeState(path, worktree, against),
      uncommitted: async () => [await gitDisk.uncommitted(worktree), await gitDisk.uncommitted(path)],
      uncommittedCounts: () => gitDisk.uncommittedCounts(path),
      mergeBase: () => gitDisk.mergeBase(path, main, tip),
      changedFiles: async () => [await gitDisk.changedFiles(compared), await gitDisk.changedFiles({ ...compared, folder: path })],
      patchOf: async () => {
        for (const file of await gitDisk.changedFiles(compared)) await gitDisk.patchOf(compared, file);
      },
      originOf: () => gitDisk.originOf(path),
      defaultBranch: () => gitDisk.defaultBranch(path),
      hasChanges: () => gitDisk.hasChanges(path, main, tip),
      remoteBranch: () => gitDisk.remoteBranch(path, 'main', to),
      fetchBranch: () => gitDisk.fetchBranch(path, 'main', to),
      pushBranch: () => gitDisk.pushBranch(worktree, 'work/one', to),
      prepareMerge: () => gitDisk.prepareMerge(merge),
      applyMerge: async () => expect(await gitDisk.applyMerge(merge, await gitDisk.prepareMerge(merge))).toBe(true),
      backUp: async () => [await gitDisk.backUp(worktree, 'one', 'work/one'), await gitDisk.backUp(path, 'main', 'main')],
      backUpCommit: () => gitDisk.backUpCommit(path, 'commit', main),
      backupRefFor: () => gitDisk.backupRefFor(path, 'other'),
      addWorktree: () => gitDisk.addWorktree(path, { path: added, branch: 'work/two', base: main }),
      discardUnfinished: () => gitDisk.discardUnfinished(path, added),
      removeWorktree: () => gitDisk.removeWorktree(path, added),
      deleteBranch: () => gitDisk.deleteBranch(path, 'work/two', main),
      forceWorktreeAway: () => gitDisk.forceWorktreeAway(path, worktree),
    };
    for (const [name, act] of Object.entries(does)) {
      if (existsSync(worktree)) dirty();
      await act();
      expect([name, marks(), came]).toEqual([name, '', []]);
    }
    // The companion's operations.
    expect(await gitState(path)).toMatchObject({ dirty_files: expect.any(Array) });
    await stagedPaths({}, path);
    await pushedPaths({}, path, 'origin', `refs/heads/x ${tip} refs/heads/x ${'0'.repeat(40)}`);
    expect([marks(), came]).toEqual(['', []]);
    expect(repository.git(['rev-parse', 'work/one'], origin)).toBe(tip);
    expect(existsSync(added)).toBe(false);
  },
  30_000,
);

test('a checkout has the files as committed, a backup has them as on disk, and both have submodules at their commits', async () => {
  const { repository, path, worktree } = await hostileRepository('in its config');
  const main = repository.git(['rev-parse', 'main']);
  const sub = repository.git(['rev-parse', 'HEAD:sub']);
  const two = `${path}-worktrees/two`;
  await gitDisk.addWorktree(path, { path: two, branch: 'work/two', base: main });
  expect(readFileSync(join(two, 'a.long'), 'utf8')).toBe('a\n');
  expect(await gitDisk.uncommitted(two)).toBe(null);
  writeFileSync(join(two, 'a.long'), 'changed\n');
  expect(await gitDisk.uncommitted(two)).toBe('1 file(s) changed but not committed');
  await expect(gitDisk.removeWorktree(path, two)).rejects.toThrow('modified or untracked');
  // The submodule is checked out in the repository and an empty folder in the worktree.
  writeFileSync(join(path, 'sub/inner.txt'), 'edited\n');
  expect(await gitDisk.uncommittedCounts(path)).toMatchObject({ changed: 1, untracked: 0 });
  for (const [folder, branch] of [
    [two, 'work/two'],
    [path, 'main'],
  ] as const) {
    const ref = await gitDisk.backUp(folder, branch, branch);
    expect(repository.git(['rev-parse', `${ref}:sub`])).toBe(sub);
  }
  expect(repository.git(['show', 'refs/covenant/backup/work/two:a.long'])).toBe('changed');
  expect(existsSync(worktree)).toBe(true);
});

test('refuses a repository whose configuration claims another folder as its working tree', async () => {
  const { repository } = repositoryOnGitHub();
  repository.git(['config', 'core.worktree', temporaryFolder()]);
  await expect(gitDisk.locateRepository(repository.path)).rejects.toThrow('its configuration names');
  expect(await gitDisk.uncommitted(repository.path)).toBe(null);
});
