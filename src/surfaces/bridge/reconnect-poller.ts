/** Polls an unreachable server until it answers. A client that got no tool list sends no more requests, so polling is the only way to notice an answer. */
export interface ReconnectPoller {
  /** Starts polling, and calls `answered` once when the server answers. */
  begin(answered: () => void): void;
  /** Polls immediately. Called when the server has answered another request. */
  wake(): void;
  end(): void;
}

const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
const LONGEST_MS = 15_000;

/** `ask` resolves to true if the server answered. */
export function createReconnectPoller(ask: (signal: AbortSignal) => Promise<boolean>): ReconnectPoller {
  const gone = new AbortController();
  let resume = () => {};
  let polling = false;

  // The timer is unreferenced, so that it does not keep the process running.
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function poll(answered: () => void): Promise<void> {
    for (let attempt = 0; !gone.signal.aborted; attempt++) {
      await pause(PAUSES_MS[attempt] ?? LONGEST_MS);
      if (!gone.signal.aborted && (await ask(gone.signal).catch(() => false))) return answered();
    }
  }

  return {
    begin(answered) {
      if (polling) return;
      polling = true;
      void poll(answered).finally(() => {
        polling = false;
      });
    },
    wake: () => resume(),
    end() {
      gone.abort();
      resume();
    },
  };
}
