import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';

/** Stands for all other hosts. It is a proxy that rejects all connections. */
export interface Outside {
  readonly env: Readonly<Record<string, string>>;
  /** The hosts to which clients tried to connect. */
  readonly asked: readonly string[];
}

export async function outside(): Promise<Outside> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      asked.push(bytes.toString('latin1').split(/\r?\n/)[0] ?? '');
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const own = '127.0.0.1,localhost,::1';
  return { asked, env: { ...Object.fromEntries(names.map((name) => [name, proxy])), NO_PROXY: own, no_proxy: own } };
}
