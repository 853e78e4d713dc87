import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Opens a connection on which the test sends single bytes. */
export async function openSocket(url: string, { halfOpen = false } = {}): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: halfOpen });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Returns a complete HTTP request as bytes. */
export function requestBytes(url: string, token: string, path: string, body: unknown): Buffer {
  const text = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`);
}

/** Returns all text that is received before the other side closes the socket or `enough` returns true. */
export async function readAll(socket: Socket, enough: (text: string) => boolean = () => false): Promise<string> {
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    if (enough(text)) break;
  }
  return text;
}
