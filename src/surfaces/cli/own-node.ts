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
  // The child may get a signal twice, from the terminal and from here. `onStopSignal` counts both as one stop.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
