import { existsSync } from 'node:fs';
import { delimiter, extname, join } from 'node:path';
import type { Programs } from '../../clients/client.ts';
import { quoted } from '../../clients/config-entries.ts';
import { hasProgram } from '../../machine/process/environment.ts';
import { PACKAGE_ROOT } from '../../version.ts';

export function programsFor(env: NodeJS.ProcessEnv, root: string): Programs {
  const known = { ...env, PATH: lastingPath(env) };
  if (hasProgram('covibe-mcp', known) && hasProgram('covibe-local', known))
    return { by: 'name', bridge: ['covibe-mcp'], companion: () => 'covibe-local', companionArgs: ['covibe-local'] };
  if (existsSync(join(root, 'node_modules/.bin/covibe-local'))) {
    const npx = ['npx', '--no-install'];
    return {
      by: 'package',
      bridge: [...npx, 'covibe-mcp'],
      companion: (top) => (top === undefined ? 'npx --no-install covibe-local' : `${top}/node_modules/.bin/covibe-local`),
      companionArgs: [...npx, 'covibe-local'],
    };
  }
  const companion = [process.execPath, fileOf('covibe-local')];
  return { by: 'path', bridge: [process.execPath, fileOf('covibe-mcp')], companion: () => companion.map(quoted).join(' '), companionArgs: companion };
}

/** Without the folders that npm adds for one command: agents are started without them. */
const lastingPath = ({ PATH = '' }: NodeJS.ProcessEnv): string =>
  PATH.split(delimiter)
    .filter((folder) => !/[\\/]node_modules[\\/]\.bin$/.test(folder))
    .join(delimiter);

/** Beside what runs now: as the build makes it, or as it is written. */
const fileOf = (program: string): string =>
  extname(import.meta.url) === '.ts' ? join(PACKAGE_ROOT, 'src/bin', `${program}.ts`) : join(PACKAGE_ROOT, 'dist/bin', `${program}.js`);
