// Installs the packages of the lock file if the lock file changed since the last install. Builds if a source file changed since the last build.
// While a server of this clone runs, this script refuses to install or build, because the server uses these files.
// Plain JavaScript without dependencies, because it runs on any Node of the machine before anything is installed.
import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildNote, installNote, lockFileHash, noted, root, sourceHash } from './clone.mjs';

const lock = join(root, '.covenant-run', 'install.lock');
const LOCK_WAIT_MS = 10 * 60_000;

withLock(() => {
  const wanted = lockFileHash();
  if (noted(installNote) !== wanted) {
    refuseWhileServing('install');
    run('npm', ['ci', '--include=dev', '--no-fund', '--no-audit'], 'install');
    mkdirSync(dirname(installNote), { recursive: true });
    writeFileSync(installNote, wanted);
  }
  if (noted(buildNote) !== sourceHash()) {
    refuseWhileServing('build');
    run('npm', ['run', '--silent', 'build'], 'build');
  }
});
checkNode();

function withLock(work) {
  mkdirSync(dirname(lock), { recursive: true });
  const giveUp = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      // A hard link appears together with its content. An existing lock therefore always contains the pid of the process that holds it.
      const mine = `${lock}.${process.pid}`;
      writeFileSync(mine, String(process.pid));
      try {
        linkSync(mine, lock);
      } finally {
        rmSync(mine, { force: true });
      }
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const holder = Number(noted(lock));
      if (!alive(holder)) takeAway(holder);
      else if (Date.now() > giveUp) fail(`process ${holder} has been installing for ten minutes`, `stop that process, or remove ${lock}`);
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * Removes the lock of a process that has died. It renames the lock first. Otherwise, if two processes found the old lock at the same time, one of them could
 * remove the new lock of the other.
 */
function takeAway(holder) {
  const aside = `${lock}.dead.${process.pid}`;
  try {
    renameSync(lock, aside);
  } catch {
    return;
  }
  if (Number(noted(aside)) === holder) rmSync(aside, { force: true });
  else renameSync(aside, lock);
}

function refuseWhileServing(what) {
  const marks = dirname(lock);
  const running = readdirSync(marks).filter((name) => /^[1-9]\d*$/.test(name) && isMarked(Number(name), statSync(join(marks, name)).mtimeMs));
  if (running.length > 0) fail(`cannot ${what} while a server of this clone runs (process ${running.join(', ')})`, 'stop the server, then run this again');
}

/**
 * Whether the server that wrote this mark (a file named by its pid) is still running. A killed server leaves its mark behind, and a new process may get the
 * same pid. If the process started after the mark was written, it is not that server.
 */
function isMarked(pid, markedAt) {
  if (!alive(pid)) return false;
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
  const startedAt = Date.parse(stdout ?? '');
  return Number.isNaN(startedAt) || startedAt < markedAt + 2_000;
}

function run(program, args, what) {
  process.stderr.write(`covenant: ${what}…\n`);
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2], env: { ...process.env, npm_config_loglevel: 'error' } });
  if (error || status !== 0) fail(`${what} failed${error ? `: ${error.message}` : ''}`, 'read the errors above');
}

/**
 * Checks that the next script can run. npm runs it with the Node in node_modules/.bin. If the clone has no Node there, the machine's Node must be new enough.
 */
function checkNode() {
  const own = spawnSync(join(root, 'node_modules', '.bin', 'node'), ['--version'], { encoding: 'utf8' });
  if (own.status === 0) return;
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 13)) return;
  fail(`Node ${process.versions.node} is too old, and this clone has no Node of its own`, 'install Node 22.13 or newer, or run: npm ci --include=dev');
}

function alive(pid) {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function fail(message, next) {
  process.stderr.write(`covenant: ${message}\n    next: ${next}\n`);
  process.exit(1);
}
