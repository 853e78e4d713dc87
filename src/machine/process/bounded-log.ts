import { chmod, mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A log that never grows beyond its limit. It consists of two files, the current and the previous one, of at most `maxBytes` each. */
export interface BoundedLog {
  /** Writes one or more lines. Never throws and never blocks. Lines that exceed the rate limit are dropped, and the number of dropped lines is logged. */
  write(text: string): void;
  /** Writes a line by the server itself. The rate limit does not apply to it. */
  note(text: string): void;
  /** Returns the text without secrets, on one line and shortened. */
  clean(text: string): string;
  /** Returns the newest lines, oldest first. */
  tail(lines: number): Promise<string[]>;
  /** Waits until all lines that were written so far are on disk. */
  flush(): Promise<void>;
}

export interface BoundedLogOptions {
  readonly path: string;
  readonly maxBytes?: number;
  /** Secrets that are replaced wherever they occur. Values with fewer than eight characters are not replaced, because they could occur by chance. */
  readonly secrets?: readonly string[];
  readonly now?: () => number;
}

const MAX_BYTES = 1024 * 1024;
const MAX_LINE = 2_000;
/** A longer line is cut at this length. */
const MAX_READ = 16_000;
const MIN_SECRET = 8;
const REDACTED = '[redacted]';
/** The number of lines that may be written per second, and the number of lines in a burst. */
const RATE = 100;
const BURST = 2_000;

export function createBoundedLog(options: BoundedLogOptions): BoundedLog {
  const { path, maxBytes = MAX_BYTES, now = Date.now } = options;
  const redact = redactor(options.secrets ?? []);
  let waiting: string[] = [];
  let leftOut = 0;
  let allowance = BURST;
  let allowedAt = now();
  let writing: Promise<void> | undefined;

  const mayWrite = (): boolean => {
    const time = now();
    allowance = Math.min(BURST, allowance + (Math.max(0, time - allowedAt) * RATE) / 1000);
    allowedAt = time;
    // If lines were dropped, wait until several lines may be written. Otherwise every second line would be a message about dropped lines.
    const enough = leftOut > 0 ? RATE : 1;
    // The queue is limited, because it would fill the memory if the disk stopped responding.
    if (allowance < enough || waiting.length >= BURST) return false;
    allowance--;
    return true;
  };

  const add = (text: string) => {
    waiting.push(`${new Date(now()).toISOString()} ${text}\n`);
    writing ??= drain().finally(() => {
      writing = undefined;
    });
  };

  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const lines = waiting;
      waiting = [];
      // If the disk is full, the lines are lost, but the server must continue.
      await append(path, lines, maxBytes).catch(() => {});
    }
  };

  const sayLeftOut = () => {
    if (leftOut > 0) add(`(${leftOut} lines dropped: too many at once)`);
    leftOut = 0;
  };

  const log: BoundedLog = {
    clean: (text) => tidy(redact(text)),
    write(text) {
      // A text that exceeds the limit is not split into lines, because it could contain a million of them.
      const lines = text.length > MAX_READ ? [text] : text.split('\n');
      for (const line of lines) {
        if (line.trim() === '') continue;
        if (!mayWrite()) {
          leftOut++;
          continue;
        }
        sayLeftOut();
        add(log.clean(line));
      }
    },
    note(text) {
      sayLeftOut();
      add(log.clean(text));
    },
    async tail(lines) {
      await log.flush();
      return tailOf(path, lines);
    },
    async flush() {
      sayLeftOut();
      await writing;
    },
  };
  return log;
}

/** Reads the newest lines of a log file. Another process may be writing to it. */
export async function tailOf(path: string, lines: number): Promise<string[]> {
  const texts = await Promise.all([older(path), path].map((file) => readFile(file, 'utf8').catch(() => '')));
  return lines > 0
    ? texts
        .join('')
        .split('\n')
        .filter((line) => line !== '')
        .slice(-lines)
    : [];
}

const older = (path: string): string => `${path}.1`;

async function append(path: string, lines: readonly string[], maxBytes: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await chmod(dirname(path), 0o700);
  let size = (await stat(path).catch(() => undefined))?.size ?? 0;
  for (let from = 0; from < lines.length; ) {
    if (size > 0 && size + bytes(lines[from]) > maxBytes) {
      await rename(path, older(path));
      size = 0;
    }
    let to = from;
    for (; to < lines.length && (to === from || size + bytes(lines[to]) <= maxBytes); to++) size += bytes(lines[to]);
    const file = await open(path, 'a', 0o600);
    try {
      await file.chmod(0o600);
      await file.write(lines.slice(from, to).join(''));
    } finally {
      await file.close();
    }
    from = to;
  }
}

const bytes = (line = ''): number => Buffer.byteLength(line);

/** Removes all characters that could control the terminal of someone who reads the log. */
function tidy(text: string): string {
  const plain = text.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]/g, '').replace(/[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ');
  const line = plain.trimEnd();
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE).toWellFormed()} … (${line.length - MAX_LINE} more characters)` : line;
}

function redactor(secrets: readonly string[]): (text: string) => string {
  // Each line of a multi-line secret is matched separately, because it is logged line by line. The JSON form of a secret is matched too.
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]).map((part) => part.trim());
  const known = [...new Set(parts.flatMap((part) => [part, JSON.stringify(part).slice(1, -1)]))].filter((part) => part.length >= MIN_SECRET);
  if (known.length === 0) return (text) => text.slice(0, MAX_READ);
  known.sort((a, b) => b.length - a.length);
  const pattern = new RegExp(known.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g');
  const longest = known[0]?.length ?? 0;
  return (text) => {
    const shown = text.slice(0, MAX_READ).replace(pattern, REDACTED);
    // The limit may have cut a secret in two, which would then not be recognized, so the end of the text is dropped.
    return text.length > MAX_READ ? shown.slice(0, Math.max(0, shown.length - longest)) : shown;
  };
}
