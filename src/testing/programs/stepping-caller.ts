import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { TestApp } from '../app.ts';
import type { Body } from '../scenes/workflow.ts';
import { COMPILED } from './compiled.ts';

const PROGRAM = fileURLToPath(new URL('./children/stepping-caller.ts', import.meta.url));

/** A separate process that makes calls for one caller on the same store as the app. */
export interface SteppingCaller {
  /** Makes a call. Returns null if the process killed itself before the step `dieBefore`. */
  call(name: string, args: object, dieBefore?: number): Promise<{ body: Body; steps: number } | null>;
  end(): Promise<void>;
}

export async function startSteppingCaller({ database, clock }: Pick<TestApp, 'database' | 'clock'>, token: string): Promise<SteppingCaller> {
  const settings = { ...database, token, now: clock.now() };
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED };
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(settings)], { stdio: ['pipe', 'pipe', 'inherit'], env });
  const ended = once(child, 'close');
  child.stdin.on('error', () => {});
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  if (value !== 'ready') throw new Error('the caller did not start');
  return {
    async call(name, args, dieBefore) {
      child.stdin.write(`${JSON.stringify({ name, args, dieBefore })}\n`);
      const line = await lines.next();
      if (!line.done) return JSON.parse(line.value);
      // Wait until the process has been reaped, because until then its pid still seems to be in use.
      await ended;
      return null;
    },
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}
