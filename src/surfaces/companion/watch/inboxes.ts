import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { BrokenFile, type InboxFile, inboxFiles, isInbox, keepRejected, keepSent, readInboxFile, UnfinishedFile } from '../usage-readers/inbox.ts';
import type { Cursor, UsageBatch } from '../usage-readers/usage-batch.ts';
import type { Ledger } from './ledger.ts';

export interface LeftFile {
  readonly file: string;
  readonly reason: string;
}

/** How many events were taken from a file, and the digest that its content had at that time. */
interface Taken {
  readonly digest: string;
  readonly count: number;
  readonly birth: string;
  /** An event of the file that the server rejected. Stored here, because the ledger remembers only the latest events and the file may stay forever. */
  readonly refused?: Refused | undefined;
}

interface Refused {
  readonly id: string;
  readonly reason: string;
}

const SOURCE = 'inbox';

/**
 * Reads the folders of usage files during one sync. A file stays until all its events are delivered. As long as the
 * file exists, the ledger stores how many of its events were taken. So a file that cannot be moved is not sent again,
 * but events that are added to it are sent. After the file is gone, a file with the same name counts as a new file.
 */
export class Inboxes {
  readonly #ledger: Ledger;
  readonly #folders: readonly string[];
  #files: readonly InboxFile[] = [];
  readonly #left = new Map<string, string>();
  readonly #unread = new Set<string>();
  readonly #gone = new Set<string>();
  /** The number of unusable files that were moved to `rejected`. */
  rejected = 0;

  constructor(ledger: Ledger, folders: readonly string[]) {
    this.#ledger = ledger;
    this.#folders = folders;
  }

  /** Takes events from the files into the ledger. Returns whether the ledger had no room for some of them. */
  async take(): Promise<boolean> {
    this.#files = this.#folders.flatMap(inboxFiles).flatMap((path) => this.#read(path) ?? []);
    return await this.#ledger.take(SOURCE, (batch, cursor) => takeFrom(this.#files, cursor, batch));
  }

  /** Moves away the files whose events are all delivered. */
  flush(): void {
    const waiting = new Set(this.#ledger.pending.map(({ id }) => id));
    const cursor = { ...this.#ledger.cursor(SOURCE) };
    for (const { path, digest, events } of this.#files) {
      const taken = takenOf(cursor, path);
      if (!taken) continue;
      const refused = this.#refusedOf(events, taken);
      cursor[path] = { ...taken, refused };
      if (taken.count < events.length || events.some(({ id }) => waiting.has(id))) continue;
      // A file that was changed in the meantime may contain new events, so it is not moved.
      if (this.#read(path)?.digest !== digest) continue;
      if (refused) this.#refuse(path, refused.reason);
      else this.#move(path, () => keepSent(path));
    }
    for (const path of this.#gone) delete cursor[path];
    this.#gone.clear();
    this.#ledger.note(SOURCE, cursor);
  }

  #refusedOf(events: InboxFile['events'], { refused: known }: Taken): Refused | undefined {
    for (const { id } of events) {
      const reason = id === known?.id ? known.reason : this.#ledger.reasonOf(id);
      if (reason !== undefined) return { id, reason };
    }
    return undefined;
  }

  get left(): LeftFile[] {
    return [...this.#left].map(([file, reason]) => ({ file, reason }));
  }

  get unread(): string[] {
    return [...this.#unread];
  }

  #read(path: string): InboxFile | undefined {
    try {
      return readInboxFile(path, takenOf(this.#ledger.cursor(SOURCE), path)?.birth);
    } catch (error) {
      if (error instanceof BrokenFile) this.#refuse(path, error.message);
      else if (error instanceof UnfinishedFile) this.#unread.add('usage files with incomplete JSON are left until they are complete');
      else if (existsSync(path)) this.#unread.add(`${path} cannot be read (${codeOf(error)})`);
      return undefined;
    }
  }

  /** Moves an unusable file out of an inbox. In any other folder the file stays, because a person may have passed a folder that contains other files. */
  #refuse(path: string, reason: string): void {
    if (!isInbox(dirname(path))) this.#left.set(path, reason);
    else if (this.#move(path, () => keepRejected(path, reason))) this.rejected += 1;
  }

  #move(path: string, move: () => void): boolean {
    try {
      move();
      this.#gone.add(path);
      return true;
    } catch (error) {
      this.#unread.add(`usage files cannot be moved out of ${dirname(path)} (${codeOf(error)}): they stay and are not sent again`);
      return false;
    }
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? (error as Error).message;

function takeFrom(files: readonly InboxFile[], cursor: Cursor, batch: UsageBatch): Cursor {
  const next: Record<string, unknown> = Object.fromEntries(Object.entries(cursor).filter(([path]) => existsSync(path)));
  for (const { path, digest, birth, events } of files) {
    const taken = takenOf(cursor, path);
    let count = taken?.digest === digest ? taken.count : 0;
    for (const event of events.slice(count)) {
      if (batch.full()) break;
      batch.put(event);
      count += 1;
    }
    next[path] = { digest, count, birth, refused: taken?.refused };
  }
  return next;
}

const takenOf = (cursor: Cursor, path: string): Taken | undefined => cursor[path] as Taken | undefined;
