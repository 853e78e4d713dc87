// A stand-in for the server: starts the programs of its first argument (JSON: [[file, ...args], ...]) as its children and writes one JSON line {mark,
// reaper, pids}, then another for each new reaper. SIGTERM: stops them and exits. SIGUSR2: starts one more child and dies before it can report it.
import { createChildren } from '../../../machine/process/children.ts';

const children = createChildren();
const start = ([file, ...args]) => children.start({ file, args, env: { PATH: process.env.PATH }, cwd: '/' });
const programs = JSON.parse(process.argv[2]);
const started = await Promise.all(programs.map(start));
// The output of the programs must be read, because otherwise they would block.
for (const child of started) for (const stream of [child.stdout, child.stderr]) stream.resume();

let told;
const tell = () => {
  if (children.reaperPid === undefined || children.reaperPid === told) return;
  told = children.reaperPid;
  console.log(JSON.stringify({ mark: children.mark, reaper: told, pids: started.map(({ pid }) => pid) }));
};
tell();
setInterval(tell, 20);
process.on('SIGTERM', async () => {
  await children.stopAll(200);
  process.exit(0);
});
process.on('SIGUSR2', () => {
  start(programs[0]);
  process.kill(process.pid, 'SIGKILL');
});
