export interface Progress {
  show(finished: number, text: string): void;
  /** Prints a line that is not overwritten. */
  print(line: string): void;
  done(): void;
}

/** Shows progress. On a terminal, each step overwrites the same line. Otherwise each step prints a new line. */
export function progressLine(all: number): Progress {
  const started = performance.now();
  const overwrites = process.stderr.isTTY;
  const clear = () => overwrites && process.stderr.write('\r\x1b[K');
  return {
    show(finished, text) {
      const seconds = Math.round((performance.now() - started) / 1000);
      const time = `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
      clear();
      process.stderr.write(`[${finished + 1}/${all}] ${time} ${text}${overwrites ? '' : '\n'}`);
    },
    print(line) {
      clear();
      process.stdout.write(`${line}\n`);
    },
    done: clear,
  };
}
