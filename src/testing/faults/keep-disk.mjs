/** Mounts a small disk at a folder and keeps it mounted until the standard input is closed. */
import { spawnSync } from 'node:child_process';

const [folder, size] = process.argv.slice(2);
const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder], { stdio: 'inherit' });
if (status !== 0) process.exit(1);
process.stdout.write('ready\n');
process.stdin.resume().on('end', () => process.exit(0));
