import { Agent, request } from 'node:http';

export type RawCall = () => Promise<void>;

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/**
 * Returns a function that makes one POST request with as little overhead as possible, so that the load generator takes little time compared with the measured
 * call. `check` throws if the answer is wrong.
 */
export function post(url: string, headers: Record<string, string>, body: string, check: (answer: string) => void): RawCall {
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
