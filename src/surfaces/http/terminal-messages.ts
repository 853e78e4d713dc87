import type { WebSocket } from 'ws';
import { z } from 'zod';
import { parseJson } from '../../wire/json.ts';
import type { TerminalScreen } from './screens.ts';
import { closeSlowReader, waitForReader } from './upgrade.ts';

/** The largest message that a terminal accepts, in bytes. */
export const MAX_BYTES = 16 * 1024;

const message = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('input'), data: z.string().min(1).max(4_096) }),
  z.strictObject({ type: z.literal('resize'), columns: z.int().min(20).max(500), rows: z.int().min(5).max(200) }),
]);

export type TerminalMessage = z.output<typeof message>;

/** Parses a message from a person's terminal. Returns the reason if the message is invalid. */
export function readMessage(data: unknown, isBinary: boolean): TerminalMessage | { problem: string } {
  if (isBinary) return { problem: 'The message must be JSON text.' };
  const value = parseJson(String(data));
  if (value === undefined) return { problem: 'The message is not valid JSON.' };
  const read = message.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  return { problem: `${issue?.path.join('.') || 'message'}: ${issue?.message}. Send {"type":"input","data"} or {"type":"resize","columns","rows"}.` };
}

/**
 * If a client has this much unread data, the server sends no further screen until
 * the client has read it. After that, the server sends only the newest screen.
 */
const HIGH_WATER_BYTES = 256 * 1024;

export type TerminalReply =
  | { type: 'connected'; instance_id: string; kind: string | null; write: boolean; message: string | null }
  | ({ type: 'screen' } & TerminalScreen)
  | { type: 'ended' }
  | { type: 'error'; code: string; message: string };

export const sendReply = (ws: WebSocket, said: TerminalReply): void => ws.send(JSON.stringify(said));

/** Waits until the client has read enough. Resolves to false if the client reads nothing and was therefore disconnected. */
export async function waitOrDrop(ws: WebSocket, stalledMs: number): Promise<boolean> {
  if (await waitForReader(ws, HIGH_WATER_BYTES, stalledMs)) return true;
  closeSlowReader(ws, 'connect again');
  return false;
}

/** Creates a sender that always sends the newest screen. A slow client does not get the screens in between. */
export function createSender(ws: WebSocket, stalledMs: number, isAllowed: () => Promise<boolean>) {
  let next: TerminalScreen | undefined;
  let shown = false;
  let sending: Promise<void> | undefined;
  async function pump(): Promise<void> {
    while (next && ws.readyState === ws.OPEN) {
      if (!(await waitOrDrop(ws, stalledMs)) || !(await isAllowed())) return;
      const screen = next;
      next = undefined;
      sendReply(ws, { type: 'screen', ...screen });
    }
  }
  return {
    screen(screen: TerminalScreen): void {
      next = screen;
      shown = true;
      sending ??= pump()
        .catch(() => ws.terminate())
        .finally(() => {
          sending = undefined;
        });
    },
    hasShown: () => shown,
    async finish(said: TerminalReply): Promise<void> {
      await sending;
      sendReply(ws, said);
      ws.close(1000, 'ended');
    },
  };
}
