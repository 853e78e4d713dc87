import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../version.ts';

/** Runs this program with the Node that a clone installs, if there is one. Returns the exit code. */
export async function byOwnNode(): Promise<number | undefined> {
  const node = join(PACKAGE_ROOT, 'node_modules/node/bin/node');
  if (!existsSync(node)) return undefined;
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // The terminal sends SIGINT to both processes, so it is not passed on: a second SIGINT would end a server without cleaning up.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
