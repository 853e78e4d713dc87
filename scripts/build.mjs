// Builds the dashboard and the programs into dist/. Each program is bundled, so that it has to read only a few files to start, instead of hundreds.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { buildNote, noted, root, sourceHash } from './clone.mjs';
import { billOfMaterials, bundledPackages, EXTERNAL, installedPackages, licenceText, packageFolder, readProduct } from './shipped.mjs';

/** The programs, by the names of their commands. Each list contains the modules that the program starts as separate processes or threads. */
const PROGRAMS = {
  covenant: ['machine/process/reaper-process', 'features/team/overlap/embed-worker'],
  'covibe-mcp': [],
  'covibe-local': [],
};

/**
 * Each of these modules is bundled into one file with everything that it imports, so that it loads quickly. Every command loads `run`, and an agent waits while
 * `hook` loads.
 */
const IN_ONE_FILE = /src\/surfaces\/(cli\/run|companion\/(run|subcommands\/hook))\.ts$/;

const dist = join(root, 'dist');
const sources = sourceHash();
/** The folders of the packages whose code is in dist/. */
const bundled = new Set();

// With --if-changed, an up-to-date build is kept. `npm install --global` builds the clone again, while a server may be running from the files in dist/.
if (process.argv.includes('--if-changed') && noted(buildNote) === sources) process.exit();
rmSync(dist, { recursive: true, force: true });
for (const [program, started] of Object.entries(PROGRAMS)) await bundle(program, started);
if (existsSync(join(root, 'web/vite.config.ts'))) buildDashboard();
const packages = bundledPackages(bundled);
writeFileSync(join(dist, 'licenses.txt'), licenceText(packages));
writeFileSync(join(dist, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(readProduct(root), packages, installedPackages(root)), null, 2)}\n`);
writeFileSync(buildNote, sources);

/**
 * Writes `bin/<program>.js`, which checks the version of Node before it loads anything else. The rest of the program is written to `<program>/`. Each program
 * is built separately. If programs shared chunks, they would load more files, and the companion would load code that only the server needs.
 */
async function bundle(program, started) {
  const input = { [`bin/${program}`]: join(root, 'src/bin', `${program}.ts`) };
  for (const path of started) input[`${program}/${path.split('/').at(-1)}`] = join(root, 'src', `${path}.ts`);
  const build = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    external: EXTERNAL,
    // `module` comes first, because the `main` file of some packages loads further files at run time, and would not find them after bundling.
    resolve: { mainFields: ['module', 'main'] },
    onLog: (level, log) => level === 'warn' && fail(log.message),
  });
  const { output } = await build.write({
    dir: dist,
    entryFileNames: '[name].js',
    chunkFileNames: `${program}/[name].js`,
    codeSplitting: { groups: [{ name: 'start', test: IN_ONE_FILE }] },
    sourcemap: true,
    sourcemapExcludeSources: true,
    // Unminified, so that stack traces stay readable.
    minify: false,
  });
  await build.close();
  for (const { moduleIds = [] } of output) collect(moduleIds);
  chmodSync(join(dist, 'bin', `${program}.js`), 0o755);
}

function buildDashboard() {
  run('vite', ['build', '--config', 'web/vite.config.ts', '--logLevel', 'warn']);
  collect(JSON.parse(readFileSync(join(dist, 'web/.vite/modules.json'), 'utf8')));
  // The files are compressed once here, so that the server does not have to compress them for every request.
  const assets = join(dist, 'web/assets');
  for (const name of readdirSync(assets)) {
    if (/\.(js|css)$/.test(name)) writeFileSync(join(assets, `${name}.gz`), gzipSync(readFileSync(join(assets, name)), { level: 9 }));
  }
}

function collect(moduleIds) {
  for (const id of moduleIds) {
    const folder = packageFolder(root, id);
    if (folder) bundled.add(folder);
  }
}

function run(name, args) {
  const { status, error } = spawnSync(join(root, 'node_modules', '.bin', name), args, { cwd: root, stdio: 'inherit' });
  if (error || status !== 0) process.exit(status || 1);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
