import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerLimits } from '../../config.ts';
import { addressGroup, networkTest, plainAddress } from '../../kernel/network.ts';
import { KeyedShare } from './rate-limit.ts';

/**
 * The most requests of one connection that wait for their answer to be read: until then each is kept in memory. Clients wait for an
 * answer before they ask again; one that does not could have us keep as much as it likes.
 */
const MAX_UNANSWERED = 16;

export function boundPipelining(listener: RequestListener): RequestListener {
  const unanswered = new WeakMap<Socket, number>();
  return (incoming, outgoing) => {
    const { socket } = incoming;
    const count = (unanswered.get(socket) ?? 0) + 1;
    // One piece of what was received may hold many requests more: they still come, and nobody is left to answer.
    if (count > MAX_UNANSWERED) return void socket.destroy();
    unanswered.set(socket, count);
    outgoing.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    return listener(incoming, outgoing);
  };
}

/** So that nobody who only connects can keep others from it. A trusted proxy brings the connections of many. */
export function boundConnections(
  server: Server,
  limits: Pick<ServerLimits, 'connections' | 'connections_per_address'>,
  trustedProxies: readonly string[],
): void {
  const isTrusted = networkTest(trustedProxies);
  const places = new KeyedShare(limits.connections, limits.connections_per_address);
  server.maxConnections = limits.connections;
  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? 'unknown');
    if (isTrusted(address)) return;
    const group = addressGroup(address);
    if (!places.take(group)) return void socket.destroy();
    socket.once('close', () => places.giveBack(group));
  });
}
