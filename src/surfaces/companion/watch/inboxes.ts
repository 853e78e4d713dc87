import type { Cursor } from '../usage/event.ts';
import { BrokenFile, type InboxFile, inboxFiles, keepRejected, keepSent, readInboxFile, UnfinishedFile } from '../usage/inbox.ts';
import type { Ledger } from './ledger.ts';

/** Takes the files' events into the ledger; the files stay until all of theirs are delivered. How many were of no use, or not finished yet. */
export async function takeInboxes(ledger: Ledger, folders: readonly string[]): Promise<Omit<Readable, 'files'>> {
  const { files, ...others } = readable(folders);
  // They have no cursor: what lies there is what is new.
  await ledger.take('inbox', (basket, cursor: Cursor) => {
    for (const { events } of files) for (const event of events) if (!basket.full()) basket.put(event);
    return cursor;
  });
  return others;
}

/** Moves the files away whose events are all delivered. How many the server had no use for. */
export function flushInboxes(ledger: Ledger, folders: readonly string[]): number {
  let rejected = 0;
  for (const { path, events } of readable(folders).files) {
    if (!events.every(({ id }) => ledger.isSettled(id))) continue;
    const [reason] = events.flatMap(({ id }) => ledger.reasonOf(id) ?? []);
    if (reason === undefined) aside(() => keepSent(path));
    else if (aside(() => keepRejected(path, reason))) rejected += 1;
  }
  return rejected;
}

interface Readable {
  readonly files: readonly InboxFile[];
  readonly rejected: number;
  readonly unfinished: number;
}

function readable(folders: readonly string[]): Readable {
  let rejected = 0;
  let unfinished = 0;
  const files = folders.flatMap(inboxFiles).flatMap((path) => {
    try {
      return [readInboxFile(path)];
    } catch (error) {
      if (error instanceof UnfinishedFile) unfinished += 1;
      if (error instanceof BrokenFile && aside(() => keepRejected(path, error.message))) rejected += 1;
      return [];
    }
  });
  return { files, rejected, unfinished };
}

/** A folder that we may not write in keeps its files: they are known, and change nothing more. */
function aside(move: () => void): boolean {
  try {
    move();
    return true;
  } catch {
    // Read again and known again, until somebody can move it.
    return false;
  }
}
