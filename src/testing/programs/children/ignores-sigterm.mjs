// Ignores both the end of its input and requests to end; only SIGKILL works. Before it serves, it has started three processes that also ignore
// SIGTERM: one in its group, one leading its own session, and one in its own session whose parent has ended (found only by its mark). Tools: echo;
// family (the pids of all four).
import { spawn } from 'node:child_process';
import { serve, text, tool } from './rpc.mjs';

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});

const stubborn = (script, detached) =>
  new Promise((resolve) => {
    const child = spawn('sh', ['-c', `trap '' TERM INT HUP; ${script}`], { detached, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.once('data', (pid) => resolve(Number(pid)));
  });
const [inGroup, inSession, orphan] = await Promise.all([
  stubborn('echo $$; exec sleep 1000', false),
  stubborn('echo $$; exec sleep 1000', true),
  stubborn('sleep 1000 & echo $!', true),
]);

serve({
  name: 'ignores-sigterm',
  tools: [tool('echo'), tool('family')],
  call: { echo: (args) => text(args.text), family: () => text(JSON.stringify([process.pid, inGroup, inSession, orphan])) },
  onEnd: () => setInterval(() => {}, 1000),
});
