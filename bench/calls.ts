import { Agent, request } from 'node:http';
import { quantile } from './app.ts';
import type { Rate } from './load.ts';

export type Call = () => Promise<void>;

const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const ROUNDS = 3;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** A bare request: what the load generator costs itself must stay small beside what it measures. `check` throws where the answer is wrong. */
export function post(url: string, headers: Record<string, string>, body: string, check: (answer: string) => void): Call {
  const all = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers };
  return () =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', agent, headers: all }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          try {
            check(Buffer.concat(chunks).toString());
            resolve();
          } catch (error) {
            reject(error);
          }
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
}

async function timed(call: Call, workers: number): Promise<Rate> {
  const times: number[] = [];
  const started = performance.now();
  const until = started + SECONDS * 1000;
  const work = async () => {
    while (performance.now() < until) {
      const begun = performance.now();
      await call();
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return { perSecond: Math.round((times.length * 1000) / (performance.now() - started)), p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/** Each in turn, several rounds, the median of each: what else the machine does hits all of them alike. */
export async function inTurns(calls: readonly Call[], workers: number): Promise<Rate[]> {
  const rounds: Rate[][] = calls.map(() => []);
  for (let round = 0; round < ROUNDS; round++) for (const [index, call] of calls.entries()) rounds[index]?.push(await timed(call, workers));
  return rounds.map((rates) => rates.sort((one, other) => one.p50 - other.p50)[Math.floor(ROUNDS / 2)] as Rate);
}
