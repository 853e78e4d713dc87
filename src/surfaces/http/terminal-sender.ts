import type { WebSocket } from 'ws';
import type { Screen } from './screens.ts';
import { closeSlow, drained } from './upgrade.ts';

/** A reader that has this much unread gets the next screen when it has read it, and the newest one then. */
const HIGH_WATER_BYTES = 256 * 1024;

export type Said =
  | { type: 'connected'; instance_id: string; kind: string | null; write: boolean; message: string | null }
  | ({ type: 'screen' } & Screen)
  | { type: 'ended' }
  | { type: 'error'; code: string; message: string };

export const say = (ws: WebSocket, said: Said): void => ws.send(JSON.stringify(said));

/** False once it has been dropped because it reads nothing. */
export async function keepsUp(ws: WebSocket, stalledMs: number): Promise<boolean> {
  if (await drained(ws, HIGH_WATER_BYTES, stalledMs)) return true;
  closeSlow(ws, 'connect again');
  return false;
}

/** Screens are states: one who reads slowly misses those in between, and is never owed more than one. */
export function createSender(ws: WebSocket, stalledMs: number, isAllowed: () => Promise<boolean>) {
  let next: Screen | undefined;
  let shown = false;
  let sending: Promise<void> | undefined;
  async function pump(): Promise<void> {
    while (next && ws.readyState === ws.OPEN) {
      if (!(await keepsUp(ws, stalledMs)) || !(await isAllowed())) return;
      const screen = next;
      next = undefined;
      say(ws, { type: 'screen', ...screen });
    }
  }
  return {
    screen(screen: Screen): void {
      next = screen;
      shown = true;
      sending ??= pump()
        .catch(() => ws.terminate())
        .finally(() => {
          sending = undefined;
        });
    },
    hasShown: () => shown,
    async finish(said: Said): Promise<void> {
      await sending;
      say(ws, said);
      ws.close(1000, 'ended');
    },
  };
}
