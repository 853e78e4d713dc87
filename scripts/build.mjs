// dist/: the programs, each bundled so that it starts by reading a few files instead of hundreds, and the dashboard's files.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { buildNote, noted, root, sourceHash } from './clone.mjs';

/** By the name that people type: what it starts as a process or thread of its own, from a file beside the one that starts it. */
const PROGRAMS = {
  covenant: ['machine/process/reaper-process', 'features/team/overlap/embed-worker'],
  'covibe-mcp': [],
  'covibe-local': [],
};
/** What is installed beside the bundles; everything else is in them. `pg` loads a native part of its own where that is there. */
const EXTERNAL = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies);

/** What every command reads, as one file instead of ten: a hook keeps its agent waiting. */
const START =
  /src\/(surfaces\/cli\/(command|parse|program|output|columns|progress|call|nearest|groups|confirm|browser|commands\/questions-text)|wire\/(printable|covenant-home|or-nothing|json|shell-quoted|headers|limits)|kernel\/(reply|excerpt|ids))\.ts$/;

const dist = join(root, 'dist');
const sources = sourceHash();
const bundled = new Set();

// npm prepares a clone anew when it is installed globally, and a server may run from these files.
if (process.argv.includes('--if-changed') && noted(buildNote) === sources) process.exit();
rmSync(dist, { recursive: true, force: true });
for (const [program, started] of Object.entries(PROGRAMS)) await bundle(program, started);
writeFileSync(join(dist, 'licenses.txt'), licenses());
if (existsSync(join(root, 'web/vite.config.ts'))) run('vite', ['build', '--config', 'web/vite.config.ts', '--logLevel', 'warn']);
// Once here instead of with every request; the server sends them to whoever takes them.
const assets = join(dist, 'web/assets');
for (const name of existsSync(assets) ? readdirSync(assets) : []) {
  if (/\.(js|css)$/.test(name)) writeFileSync(join(assets, `${name}.gz`), gzipSync(readFileSync(join(assets, name)), { level: 9 }));
}
writeFileSync(buildNote, sources);

/**
 * `bin/<program>.js`, which looks at the version of Node before it loads anything, and the rest of it in `<program>/`. Each by itself: what
 * two of them shared would be cut into more files, and a companion would read parts that only the server needs.
 */
async function bundle(program, started) {
  const input = { [`bin/${program}`]: join(root, 'src/bin', `${program}.ts`) };
  for (const path of started) input[`${program}/${path.split('/').at(-1)}`] = join(root, 'src', `${path}.ts`);
  const build = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    external: EXTERNAL,
    // Some packages have modules beside a `main` that looks for its own parts when it runs, where they no longer are.
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
    // Names stay as they are: stack traces are for people to read.
    minify: false,
  });
  await build.close();
  for (const { moduleIds = [] } of output) for (const id of moduleIds) bundled.add(packageOf(id));
  chmodSync(join(dist, 'bin', `${program}.js`), 0o755);
}

function packageOf(id) {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll('\\', '/'))?.[0];
}

/** Their code is in ours: so are their terms. */
function licenses() {
  const parts = [...bundled].filter(Boolean).sort();
  return parts
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function run(name, args) {
  const { status, error } = spawnSync(join(root, 'node_modules', '.bin', name), args, { cwd: root, stdio: 'inherit' });
  if (error || status !== 0) process.exit(status || 1);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
