import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The most requests of one connection that wait for their answer to be read: until then each is kept in memory. Clients wait for an
 * answer before they ask again; one that does not could have us keep as much as it likes.
 */
const MOST_UNANSWERED = 16;

export function boundPipelining(listener: RequestListener): RequestListener {
  const unanswered = new WeakMap<Socket, number>();
  return (incoming, outgoing) => {
    const { socket } = incoming;
    const count = (unanswered.get(socket) ?? 0) + 1;
    // One piece of what was received may hold many requests more: they still come, and nobody is left to answer.
    if (count > MOST_UNANSWERED) return void socket.destroy();
    unanswered.set(socket, count);
    outgoing.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    return listener(incoming, outgoing);
  };
}
