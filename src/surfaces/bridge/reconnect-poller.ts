/** Asks a server that is away again until it answers: a client whose list failed asks for nothing more, so nothing else would notice. */
export interface ReconnectPoller {
  /** Calls `answered` once, as soon as the server answers. */
  begin(answered: () => void): void;
  /** Another request was answered, so the poller asks at once. */
  wake(): void;
  end(): void;
}

const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
const LONGEST_MS = 15_000;

/** `ask` resolves to whether the server answered. */
export function createReconnectPoller(ask: (signal: AbortSignal) => Promise<boolean>): ReconnectPoller {
  const gone = new AbortController();
  let resume = () => {};
  let polling = false;

  // The timer does not keep the process running.
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
