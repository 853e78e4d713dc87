import { useEffect, useRef, useState } from 'react';
import { isSignedOut, openSocket } from '../../api.ts';
import { rereadViewer } from '../../query-client.ts';

export interface ShownScreen {
  readonly text: string;
  /** Null if a log is shown, because a log has no width. */
  readonly columns: number | null;
  readonly rows: number | null;
  readonly cursor: { readonly column: number; readonly row: number } | null;
}

type TerminalFrame =
  | { type: 'connected'; kind: 'tmux' | 'process' | null; write: boolean; message: string | null }
  | ({ type: 'screen' } & ShownScreen)
  | { type: 'ended' }
  | { type: 'error'; code: string; message: string };

export interface TerminalState {
  readonly phase: 'connecting' | 'open' | 'lost' | 'ended' | 'refused';
  readonly kind: 'tmux' | 'process' | null;
  /** Whether input is sent to the terminal. */
  readonly write: boolean;
  /** A message from the server, for example that the session has ended, that the screen is a log, or why something was refused. */
  readonly message: string | null;
  readonly screen: ShownScreen | undefined;
}

type Sent = { type: 'input'; data: string } | { type: 'resize'; columns: number; rows: number };

const START: TerminalState = { phase: 'connecting', kind: null, write: false, message: null, screen: undefined };
const BACKOFF_MS = [500, 1_000, 2_000, 4_000, 8_000];
const SIGNED_OUT = 4401;

/** Follows the screen of an instance. If the connection is lost, it connects again, but not if the server refused the connection or the session ended. */
export function useTerminal(id: string, write: boolean): { state: TerminalState; send: (message: Sent) => void; again: () => void } {
  const [state, setState] = useState(START);
  const [turn, setTurn] = useState(0);
  const socket = useRef<WebSocket>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new turn must open a new connection
  useEffect(() => {
    let attempts = 0;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let closed = false;
    let current: TerminalState = START;
    const set = (next: TerminalState): void => {
      current = next;
      // Keep showing the last screen until the next one arrives.
      setState((before) => ({ ...next, screen: next.screen ?? before.screen }));
    };
    const reconnect = (): void => {
      set({ ...current, phase: 'lost', write: false });
      retry = setTimeout(connect, BACKOFF_MS[Math.min(attempts++, BACKOFF_MS.length - 1)]);
    };
    const connect = (): void => {
      openSocket(`/api/instances/${id}/terminal`, write ? { write: '1' } : {}).then(
        (opened) => (closed ? opened.close() : follow(opened)),
        (error: unknown) => {
          if (closed) return;
          if (isSignedOut(error)) rereadViewer();
          reconnect();
        },
      );
    };
    const follow = (opened: WebSocket): void => {
      socket.current = opened;
      opened.onmessage = ({ data }) => {
        const frame = JSON.parse(String(data)) as TerminalFrame;
        if (frame.type === 'connected') attempts = 0;
        if (!closed) set(after(current, frame));
      };
      opened.onclose = ({ code }) => {
        if (closed || current.phase === 'ended' || current.phase === 'refused') return;
        if (code === SIGNED_OUT) rereadViewer();
        reconnect();
      };
    };
    set(START);
    connect();
    return () => {
      closed = true;
      clearTimeout(retry);
      socket.current?.close();
    };
  }, [id, write, turn]);
  const send = (message: Sent): void => {
    if (socket.current?.readyState === WebSocket.OPEN) socket.current.send(JSON.stringify(message));
  };
  return { state, send, again: () => setTurn((before) => before + 1) };
}

function after(before: TerminalState, frame: TerminalFrame): TerminalState {
  switch (frame.type) {
    case 'connected':
      return { ...before, phase: 'open', kind: frame.kind, write: frame.write, message: frame.message };
    case 'screen': {
      const { text, columns, rows, cursor } = frame;
      return { ...before, screen: { text, columns, rows, cursor } };
    }
    case 'ended':
      return { ...before, phase: 'ended', write: false };
    // An error before the connection is open is final. A later error concerns only one message.
    case 'error':
      return { ...before, phase: before.phase === 'open' ? 'open' : 'refused', message: frame.message };
  }
}
