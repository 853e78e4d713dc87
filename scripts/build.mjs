// Builds dist/: each program as a bundle, so that it starts by reading a few files instead of hundreds, and the dashboard.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { buildNote, noted, root, sourceHash } from './clone.mjs';
import { billOfMaterials, bundledPackages, EXTERNAL, installedPackages, licenceText, packageFolder, readProduct } from './shipped.mjs';

/** The programs by the name that people type, each with the modules that it starts as separate processes or threads. */
const PROGRAMS = {
  covenant: ['machine/process/reaper-process', 'features/team/overlap/embed-worker'],
  'covibe-mcp': [],
  'covibe-local': [],
};

/** What every command reads, as one file instead of ten: a hook keeps its agent waiting. */
const START =
  /src\/(surfaces\/cli\/(command|parse|program|output|columns|progress|call|nearest|groups|confirm|browser|commands\/questions-text)|wire\/(printable|covenant-home|or-nothing|json|shell-quoted|headers|limits)|kernel\/(reply|excerpt|ids))\.ts$/;

const dist = join(root, 'dist');
const sources = sourceHash();
/** The folders of the packages whose code is in dist/. */
const bundled = new Set();

// `npm install --global` prepares a clone again, and a server may be running from these files.
if (process.argv.includes('--if-changed') && noted(buildNote) === sources) process.exit();
rmSync(dist, { recursive: true, force: true });
for (const [program, started] of Object.entries(PROGRAMS)) await bundle(program, started);
if (existsSync(join(root, 'web/vite.config.ts'))) buildDashboard();
const packages = bundledPackages(bundled);
writeFileSync(join(dist, 'licenses.txt'), licenceText(packages));
writeFileSync(join(dist, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(readProduct(root), packages, installedPackages(root)), null, 2)}\n`);
writeFileSync(buildNote, sources);

/**
 * Writes `bin/<program>.js`, which checks the version of Node before it loads anything, and the rest of the program to `<program>/`.
 * Each program is built separately. Shared chunks would be smaller and more numerous, and the companion would read parts that only the server needs.
 */
async function bundle(program, started) {
  const input = { [`bin/${program}`]: join(root, 'src/bin', `${program}.ts`) };
  for (const path of started) input[`${program}/${path.split('/').at(-1)}`] = join(root, 'src', `${path}.ts`);
  const build = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    external: EXTERNAL,
    // The `main` of some packages loads its own files at run time. After bundling they are not where it looks.
    resolve: { mainFields: ['module', 'main'] },
    onLog: (level, log) => level === 'warn' && fail(log.message),
  });
  const { output } = await build.write({
    dir: dist,
    entryFileNames: '[name].js',
    chunkFileNames: `${program}/[name].js`,
    codeSplitting: { groups: [{ name: 'start', test: START }] },
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
  // Compressed once here instead of for every request.
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
