/**
 * A server on a store that other processes have open too. It reads one call from each line and writes the answer as one line. A call can contain the number
 * of a step, before which the process kills itself.
 */
import { createInterface } from 'node:readline';
import { createLog } from '../../../kernel/log.ts';
import { createApp } from '../../../main.ts';
import { SLEEPER, testConfig } from '../../config.ts';
import { armed, step, steps } from './steps.ts';

interface Request {
  readonly name: string;
  readonly args: unknown;
  /** The step before which the process kills itself. Without it, the process takes all steps. */
  readonly dieBefore?: number;
}

const { home, path, url, token, now } = JSON.parse(process.argv[2] ?? '') as Record<'home' | 'path' | 'url' | 'token', string> & { now: number };
const app = await createApp({
  config: testConfig({ home, path, url }, { log_level: 'error', launchers: { sleeper: SLEEPER } }),
  clock: { now: () => now, every: () => () => {}, after: () => () => {} },
  log: createLog('error', (line) => process.stderr.write(`${line}\n`)),
  sweep: false,
});
app.servesAt('http://127.0.0.1:9');
const authenticated = await app.authenticate(token, 'bearer');
if (!('principal' in authenticated)) throw new Error('token refused');
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  armed(request.dieBefore);
  const { body } = await app.dispatch.tool({ name: request.name, args: request.args, principal: authenticated.principal, surface: 'api' });
  // This counts as a step too, so that the process can also die after all its work, before the caller reads the answer.
  step();
  console.log(JSON.stringify({ body, steps: steps() }));
}
await app.close();
