/** Looks for a server that is away until it answers: a client whose list failed asks for nothing any more, so nothing else would notice. */
export interface ReconnectPoller {
  /** `seen` is told once, as soon as `look` finds anything. */
  begin(seen: () => void): void;
  /** Somebody had an answer from the server: it is worth looking now. */
  wake(): void;
  end(): void;
}

const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
const LONGEST_MS = 15_000;

/** `look`: whether the server answered. */
export function createLookout(look: (signal: AbortSignal) => Promise<boolean>): ReconnectPoller {
  const gone = new AbortController();
  let resume = () => {};
  let looking = false;

  // Nobody is kept waiting for it: the process ends as if it were not there.
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function watch(seen: () => void): Promise<void> {
    for (let attempt = 0; !gone.signal.aborted; attempt++) {
      await pause(PAUSES_MS[attempt] ?? LONGEST_MS);
      if (!gone.signal.aborted && (await look(gone.signal).catch(() => false))) return seen();
    }
  }

  return {
    begin(seen) {
      if (looking) return;
      looking = true;
      void watch(seen).finally(() => {
        looking = false;
      });
    },
    wake: () => resume(),
    end() {
      gone.abort();
      resume();
    },
  };
}
