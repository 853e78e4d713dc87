import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { whenOver } from '../scope.ts';
import { temporaryFolder } from '../store/database.ts';

const KEEPER = fileURLToPath(new URL('./keep-disk.mjs', import.meta.url));
const PRIVATE = ['--user', '--map-root-user', '--mount'];

/** Whether this machine allows a process to mount a disk that only that process sees. */
export const canMount = (): boolean => {
  const folder = temporaryFolder();
  return spawnSync('unshare', [...PRIVATE, 'mount', '-t', 'tmpfs', 'tmpfs', folder]).status === 0;
};

export interface SmallDisk {
  readonly home: string;
  /** The beginning of a command. A program that is started with it can see the disk. */
  readonly through: readonly string[];
  /** Returns the path under which this process can see a file on the disk. */
  seen(path: string): string;
  /** Fills the disk until this many bytes are free. It never frees space. */
  fill(free: number): void;
  makeRoom(): void;
}

/** A disk of a few megabytes in memory that only programs started through it can see. */
export async function smallDisk(megabytes: number): Promise<SmallDisk> {
  const home = temporaryFolder();
  const keeper: ChildProcess = spawn('unshare', [...PRIVATE, process.execPath, KEEPER, home, `${megabytes}m`], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(keeper, 'exit');
  whenOver(async () => {
    keeper.kill('SIGKILL');
    await ended;
  });
  const ready = await Promise.race([once(keeper.stdout as NodeJS.ReadableStream, 'data'), ended.then(() => undefined)]);
  if (!ready) throw new Error('the disk could not be mounted');
  const seen = (path: string) => `/proc/${keeper.pid}/root${path}`;
  const ballast = join(seen(home), 'ballast');
  return {
    home,
    through: ['nsenter', '--target', String(keeper.pid), '--user', '--mount', '--preserve-credentials'],
    seen,
    fill(free) {
      const file = openSync(ballast, 'a');
      const { bavail, bsize } = statfsSync(seen(home));
      writeSync(file, Buffer.alloc(Math.max(0, bavail * bsize - free)));
      fsyncSync(file);
      closeSync(file);
    },
    makeRoom: () => rmSync(ballast, { force: true }),
  };
}
