/**
 * `npm run package [-- FOLDER]`: makes the npm package. Its manifest lists only the libraries that are not bundled, because npm would install the others
 * although no code imports them.
 * `npm run pack:check`: makes the package in a temporary folder, prints its size, and fails if it is too large or a file is missing.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const MAX_ITEMS = { packedMB: 4.5, unpackedMB: 14, files: 450, direct: 15, all: 30 };
/** Files without which a program does not work, and those that people look for first. A test checks all links of README.md. */
const NEEDED = [
  'dist/bin/covenant.js',
  'dist/bin/covibe-mcp.js',
  'dist/bin/covibe-local.js',
  'dist/web/index.html',
  'dist/licenses.txt',
  'dist/sbom.cdx.json',
  'docs/operations.md',
  // The server and the bridge offer this file as the resource covenant://guide.
  'docs/agents.md',
  ...['README', 'ARCHITECTURE', 'GLOSSARY', 'SECURITY', 'CONTRIBUTING', 'CHANGELOG'].map((name) => `${name}.md`),
];
const UNWANTED = /\.map$|^docs\/pictures\/|\.test\.|(^|\/)\./;

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}
interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}
interface Component {
  readonly group?: string;
  readonly name: string;
  readonly properties: readonly { readonly value: string }[];
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(join(root, path), 'utf8')) as T;

/** Runs `npm pack`, but not the scripts that npm would run with it, because they would rebuild the files that are being packed. */
function npmPack(cwd: string, ...args: string[]): Packed {
  const output = execFileSync('npm', ['pack', '--ignore-scripts', '--json', ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [packed] = JSON.parse(output) as [Packed];
  return packed;
}

function shippedAs(delivery: 'bundled' | 'installed'): ReadonlySet<string> {
  const { components } = readJson<{ components: Component[] }>('dist/sbom.cdx.json');
  const found = components.filter(({ properties }) => properties.some(({ value }) => value === delivery));
  return new Set(found.map(({ group, name }) => (group ? `${group}/${name}` : name)));
}

/** The package.json of the published package. It leaves out bundled libraries and everything that only a clone needs. */
function packedManifest(): Manifest {
  const { devDependencies: _, scripts: __, overrides: ___, allowScripts: ____, ...manifest } = readJson<Manifest & Record<string, unknown>>('package.json');
  const bundled = shippedAs('bundled');
  return { ...manifest, dependencies: Object.fromEntries(Object.entries(manifest.dependencies).filter(([name]) => !bundled.has(name))) };
}

/** Packs a copy of the files with the reduced manifest. The package.json of the clone is never changed, so an interruption cannot leave it in a wrong state. */
function pack(destination: string): { packed: Packed; manifest: Manifest } {
  const copy = mkdtempSync(join(tmpdir(), 'covenant-pack-'));
  try {
    for (const { path } of npmPack(root, '--dry-run').files) cpSync(join(root, path), join(copy, path));
    const manifest = packedManifest();
    writeFileSync(join(copy, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    return { packed: npmPack(copy, '--pack-destination', destination), manifest };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function check(): void {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-pack-'));
  try {
    const { packed, manifest } = pack(folder);
    const direct = Object.keys(manifest.dependencies);
    const paths = packed.files.map(({ path }) => path);
    const found = {
      packedMB: packed.size / 1e6,
      unpackedMB: packed.unpackedSize / 1e6,
      files: paths.length,
      direct: direct.length,
      all: shippedAs('installed').size,
    };
    const faults = [
      ...Object.entries(MAX_ITEMS).flatMap(([name, most]) => (found[name as keyof typeof MAX_ITEMS] > most ? [`${name} exceeds ${most}`] : [])),
      ...NEEDED.filter((path) => !paths.includes(path)).map((path) => `${path} is missing`),
      ...paths.filter((path) => UNWANTED.test(path)).map((path) => `${path} must not be packed`),
    ];
    console.log(`${packed.filename}: ${found.packedMB.toFixed(1)} MB packed, ${found.unpackedMB.toFixed(1)} MB unpacked, ${found.files} files`);
    console.log(`installed with it: ${found.direct} direct (${direct.join(', ')}), ${found.all} in all`);
    for (const fault of faults) console.error(`✗ ${fault}`);
    process.exitCode = faults.length > 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [argument] = process.argv.slice(2);
if (argument === '--check') check();
else if (argument === '--refuse') {
  console.error('`npm pack` would list the bundled libraries as dependencies.\n    next: npm run package');
  process.exitCode = 1;
} else {
  const folder = resolve(argument ?? '.');
  console.log(join(folder, pack(folder).packed.filename));
}
