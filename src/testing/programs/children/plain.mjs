// A well-behaved server. Tools: echo {text}; wait {ms, text}; exit {code}; crash (kills itself with SIGKILL); environment (its variable names);
// where (its folder and pid). Variables:
//   CHILD_NAME         its serverInfo.name
//   CHILD_SAYS         a line that it writes to stderr at its start
//   CHILD_EXITS        exits immediately with this code
//   CHILD_ENDS_SLOWLY  milliseconds between the end of its input and its exit
import { serve, text, tool } from './rpc.mjs';

const { CHILD_NAME = 'plain', CHILD_SAYS, CHILD_EXITS, CHILD_ENDS_SLOWLY = '0' } = process.env;
if (CHILD_SAYS) console.error(CHILD_SAYS);
if (CHILD_EXITS) process.exit(Number(CHILD_EXITS));

serve({
  name: CHILD_NAME,
  tools: ['echo', 'wait', 'exit', 'crash', 'environment', 'where'].map((name) => tool(name)),
  call: {
    echo: (args) => text(args.text),
    wait: ({ ms = 100, text: said = '' }) => new Promise((resolve) => setTimeout(() => resolve(text(said)), ms)),
    exit: ({ code = 0 }) => void process.exit(code),
    crash: () => void process.kill(process.pid, 'SIGKILL'),
    environment: () => text(Object.keys(process.env).sort()),
    where: () => text(JSON.stringify({ cwd: process.cwd(), pid: process.pid })),
  },
  onEnd: () => setTimeout(() => process.exit(0), Number(CHILD_ENDS_SLOWLY)),
});
