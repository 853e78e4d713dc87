import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A connection to a server that the test can cut and restore. The address does not change, so that the cookie and the origin stay valid. */
export interface Severable {
  readonly url: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
}

export async function severable(target: string): Promise<Severable> {
  const upstream = Number(new URL(target).port);
  const open = new Set<Socket>();
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((near) => {
    const far = connect(upstream, '127.0.0.1');
    keep(near);
    keep(far);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const cut = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  onTestFinished(cut);
  return { url: `http://127.0.0.1:${port}`, cut, mend: () => listen(port) };
}
