// Answers `echo`. On a call of `die` it writes a last line to stderr and exits with code 3. CHILD_DIES=signal: it kills itself with SIGKILL instead.
import { serve, text, tool } from './rpc.mjs';

serve({
  name: 'dies-in-call',
  tools: [tool('echo'), tool('die')],
  call: {
    echo: (args) => text(args.text),
    die: () => {
      if (process.env.CHILD_DIES === 'signal') process.kill(process.pid, 'SIGKILL');
      else process.stderr.write('could not go on\n', () => process.exit(3));
    },
  },
});
