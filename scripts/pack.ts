/** `npm run pack:check`: what `npm pack` would publish, and what installing it brings along. Fails where it is over its bounds or lacks a part. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const MAX_ITEMS = { packedMB: 4.5, unpackedMB: 14, files: 420, direct: 15, all: 30 };
/** The programs, what they show, and what README.md links to. */
const NEEDED = [
  'dist/bin/covenant.js',
  'dist/bin/covibe-mcp.js',
  'dist/bin/covibe-local.js',
  'dist/web/index.html',
  'dist/licenses.txt',
  'docs/operations.md',
  ...['README', 'ARCHITECTURE', 'GLOSSARY', 'SECURITY', 'CONTRIBUTING', 'CHANGELOG'].map((name) => `${name}.md`),
];
const UNWANTED = /\.map$|^docs\/pictures\/|\.test\.|(^|\/)\./;

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}
interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean; readonly peer?: boolean }>>;
}

const json = <T>(text: string): T => JSON.parse(text) as T;
// Without the scripts: they would build what is looked at.
const [packed] = json<[Packed]>(
  execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
);
const { dependencies } = json<{ dependencies: Record<string, string> }>(readFileSync(join(root, 'package.json'), 'utf8'));
const { packages } = json<Lock>(readFileSync(join(root, 'package-lock.json'), 'utf8'));

const paths = packed.files.map(({ path }) => path);
const found = {
  packedMB: packed.size / 1e6,
  unpackedMB: packed.unpackedSize / 1e6,
  files: paths.length,
  direct: Object.keys(dependencies).length,
  all: Object.entries(packages).filter(([path, { dev, devOptional, peer }]) => path !== '' && !dev && !devOptional && !peer).length,
};

const faults = [
  ...Object.entries(MAX_ITEMS).flatMap(([name, most]) => (found[name as keyof typeof MAX_ITEMS] > most ? [`${name} is over ${most}`] : [])),
  ...NEEDED.filter((path) => !paths.includes(path)).map((path) => `${path} is missing`),
  ...paths.filter((path) => UNWANTED.test(path)).map((path) => `${path} does not belong in it`),
];

console.log(`${packed.filename}: ${found.packedMB.toFixed(1)} MB packed, ${found.unpackedMB.toFixed(1)} MB unpacked, ${found.files} files`);
console.log(`runtime dependencies: ${found.direct} direct (${Object.keys(dependencies).join(', ')}), ${found.all} in all`);
for (const fault of faults) console.error(`✗ ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;
