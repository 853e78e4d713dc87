import type { Narrator } from '../../demo-agents/run.ts';
import type { CliOutput } from '../output.ts';

/** A narrator that can also print lines between the steps. */
interface TerminalNarrator extends Narrator {
  say(line: string): void;
  end(): void;
}

const BAR = 16;

/** Prints a line for each step, with the time since the start of the demo. At a terminal, it also shows a progress bar. */
export function createNarrator(out: CliOutput, { steps, json }: { steps: number; json: boolean }): TerminalNarrator {
  const since = performance.now();
  const hasBar = !json && process.stderr.isTTY === true && process.env.TERM !== 'dumb';
  let count = 0;
  let bar = '';
  const shown = (line: string) => (out.utf8 ? line : line.replaceAll('→', '->'));
  const erase = () => hasBar && bar !== '' && process.stderr.write(`\r\u001b[2K`);
  const say = (line: string) => {
    if (json) return;
    erase();
    out.note(shown(line));
    if (hasBar && bar !== '') process.stderr.write(bar);
  };
  return {
    say,
    done(what, next) {
      count++;
      const full = Math.round((count / steps) * BAR);
      const [done, left] = out.utf8 ? ['█', '░'] : ['#', '.'];
      bar = count === steps ? '' : `${done.repeat(full)}${left.repeat(BAR - full)} ${count}/${steps}${next ? ` next: ${next}` : ''}`;
      say(count === 1 ? `${out.mark.good} ${what}` : `${clock(performance.now() - since)} ${what}`);
    },
    end() {
      erase();
      bar = '';
    },
  };
}

const clock = (ms: number): string => {
  const seconds = Math.floor(ms / 1000);
  return `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
};
