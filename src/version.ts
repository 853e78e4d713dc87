import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with package.json: one level above the sources, two above the build. */
export const PACKAGE_ROOT: string = rootAbove(dirname(fileURLToPath(import.meta.url)));

export const VERSION: string = (JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string }).version;

function rootAbove(folder: string): string {
  const above = dirname(folder);
  return existsSync(join(above, 'package.json')) || above === folder ? above : rootAbove(above);
}
