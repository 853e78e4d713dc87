import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../version.ts';

/** Runs this program again with the Node in `node_modules`, which every clone installs. Returns the exit code, or undefined if there is no such Node. */
export async function byOwnNode(): Promise<number | undefined> {
  const node = join(PACKAGE_ROOT, 'node_modules/node/bin/node');
  if (!existsSync(node)) return undefined;
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // SIGINT is not passed on, because the terminal sends it to both processes. A second SIGINT would end a server before it has cleaned up.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
