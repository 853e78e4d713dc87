import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { whenOver } from '../scope.ts';

export interface Traffic {
  readonly url: string;
  /** The method, path, headers and body of each request, as one text. */
  readonly sent: string[];
  /** Returns how often a tool was called through the proxy. */
  calls(tool: string): number;
  /** While this is true, the server cannot be reached. */
  down: boolean;
  /** Called after the server has answered, before the answer is passed on. If it returns a promise, the answer waits for it. */
  answered: ((request: string) => unknown) | undefined;
}

/** Starts a proxy in front of a server that records all requests. */
export async function recordTraffic(server: string): Promise<Traffic> {
  const sent: string[] = [];
  const http = createServer(async (incoming, outgoing) => {
    if (traffic.down) return void incoming.socket.destroy();
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const request = `${incoming.method} ${incoming.url}\n${JSON.stringify(incoming.headers)}\n${body.toString('utf8')}`;
    const { host: _, connection: __, 'content-length': ___, ...headers } = incoming.headers as Record<string, string>;
    const response = await fetch(`${server}${incoming.url}`, { method: incoming.method ?? 'GET', headers, ...(body.length > 0 ? { body } : {}) });
    const answer = Buffer.from(await response.arrayBuffer());
    sent.push(request);
    await traffic.answered?.(request);
    const { 'content-length': ____, 'transfer-encoding': _____, ...said } = Object.fromEntries(response.headers);
    outgoing.writeHead(response.status, said).end(answer);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  whenOver(() => {
    http.closeAllConnections();
    http.close();
  });
  const traffic: Traffic = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    sent,
    calls: (tool) => sent.filter((request) => request.includes(`"tool":"${tool}"`)).length,
    down: false,
    answered: undefined,
  };
  return traffic;
}
