// dist/: the program as plain JavaScript (Node strips no types under node_modules), and the dashboard's files.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildNote, root, sourceHash } from './clone.mjs';

const bin = (name) => join(root, 'node_modules', '.bin', name);
const sources = sourceHash();

rmSync(join(root, 'dist'), { recursive: true, force: true });
run('tsc', ['-p', 'tsconfig.build.json']);
for (const name of readdirSync(join(root, 'dist/bin'))) if (name.endsWith('.js')) chmodSync(join(root, 'dist/bin', name), 0o755);
if (existsSync(join(root, 'web/vite.config.ts'))) run('vite', ['build', '--config', 'web/vite.config.ts', '--logLevel', 'warn']);
// Once here instead of with every request; the server sends them to whoever takes them.
const assets = join(root, 'dist/web/assets');
for (const name of existsSync(assets) ? readdirSync(assets) : []) {
  if (/\.(js|css)$/.test(name)) writeFileSync(join(assets, `${name}.gz`), gzipSync(readFileSync(join(assets, name)), { level: 9 }));
}
writeFileSync(buildNote, sources);

function run(name, args) {
  const { status, error } = spawnSync(bin(name), args, { cwd: root, stdio: 'inherit' });
  if (error || status !== 0) process.exit(status || 1);
}
