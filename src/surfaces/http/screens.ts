import { setTimeout as pause } from 'node:timers/promises';
import type { AgentHost } from '../../machine/agent-sessions/agent-host.ts';

/** The screen of a terminal, or the end of the log of a plain process. */
export interface TerminalScreen {
  readonly text: string;
  readonly columns: number | null;
  readonly rows: number | null;
  readonly cursor: { readonly column: number; readonly row: number } | null;
}

export interface WatchedSession {
  readonly name: string;
  readonly kind: 'tmux' | 'process';
  readonly pid: number;
  readonly started: number;
}

export interface ScreenWatcher {
  changed(screen: TerminalScreen): void;
  /** Called when the program has ended or another program has replaced it. */
  ended(): void;
  failed(error: unknown): void;
}

export interface ScreenSubscription {
  /** Captures the screen soon, without waiting for the next poll. Called after input. */
  nudge(): void;
  stop(): void;
}

export interface Screens {
  watch(session: WatchedSession, watcher: ScreenWatcher): ScreenSubscription;
}

/** Creates the screens of a host. A session is polled only while it has watchers, and all its watchers share one poll. */
export function createScreens(host: AgentHost, pollMs: number): Screens {
  const looks = new Map<string, Look>();
  return {
    watch(session, watcher) {
      const key = `${session.kind} ${session.name} ${session.pid} ${session.started}`;
      const look =
        looks.get(key) ??
        createLook(
          () => capture(host, session),
          pollMs,
          () => looks.delete(key),
        );
      looks.set(key, look);
      return look.join(watcher);
    },
  };
}

interface CapturedScreen {
  /** Null if the session no longer has a screen. */
  readonly screen: TerminalScreen | null;
  readonly ended: boolean;
}

type Look = { join(watcher: ScreenWatcher): ScreenSubscription };

function createLook(take: () => Promise<CapturedScreen>, pollMs: number, over: () => void): Look {
  const watchers = new Set<ScreenWatcher>();
  let latest: TerminalScreen | undefined;
  let running = false;
  let wait = new AbortController();

  async function run(): Promise<void> {
    running = true;
    let tell: ((watcher: ScreenWatcher) => void) | undefined;
    try {
      while (watchers.size > 0 && !tell) {
        wait = new AbortController();
        const { screen, ended } = await take();
        if (screen && JSON.stringify(screen) !== JSON.stringify(latest)) {
          latest = screen;
          for (const watcher of watchers) watcher.changed(screen);
        }
        if (ended) tell = (watcher) => watcher.ended();
        else await pause(pollMs, undefined, { ref: false, signal: wait.signal }).catch(() => {});
      }
    } catch (error) {
      tell = (watcher) => watcher.failed(error);
    }
    // A watcher that joins after this line starts a new loop.
    running = false;
    over();
    for (const watcher of watchers) tell?.(watcher);
  }

  return {
    join(watcher) {
      watchers.add(watcher);
      if (latest) watcher.changed(latest);
      if (!running) void run();
      return {
        nudge: () => wait.abort(),
        stop() {
          watchers.delete(watcher);
          if (watchers.size === 0) wait.abort();
        },
      };
    },
  };
}

async function capture(host: AgentHost, { name, kind, pid, started }: WatchedSession): Promise<CapturedScreen> {
  if (kind === 'process') {
    const processes = await host.sessions('process');
    // Reads the state before the log, so that the log of an ended process is complete.
    const { state } = await processes.look({ name, pid, started });
    return { screen: withoutSize(await processes.screen({ name, pid, started })), ended: state !== 'running' };
  }
  const view = await (await host.tmux())?.view(name);
  if (!view || view.pid !== pid) return { screen: null, ended: true };
  const { text, columns, rows, cursor, ended } = view;
  return { screen: { text, columns, rows, cursor }, ended };
}

export const withoutSize = (text: string): TerminalScreen => ({ text, columns: null, rows: null, cursor: null });
