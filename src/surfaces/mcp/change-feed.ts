import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../../main.ts';
import { type JournalEvent, readHead } from '../../storage/journal.ts';
import type { McpCaller } from './caller.ts';

export type ListKind = 'tools' | 'prompts' | 'resources';

export interface ResourceUpdate {
  readonly server: string;
  readonly uri: string;
}

/** A client that wants notifications. A notification tells the client to read the list or resource again. */
export interface ChangeListener {
  readonly caller: McpCaller;
  listsChanged(kinds: ReadonlySet<ListKind>): void;
  resourcesUpdated(updates: readonly ResourceUpdate[]): void;
  /** A token of the workspace was revoked. */
  accessChanged(): void;
}

export interface ChangeFeed {
  listen(listener: ChangeListener): () => void;
  close(): Promise<void>;
}

/** Changes within this time are combined into one notification. */
const GATHER_MS = 50;
/** The pause between two reads of the journal. After a read that returns at least `BUSY` events, there is no pause. */
const READ_MS = 100;
const BUSY = 100;
const RETRY_MS = 1_000;

/**
 * Notifies clients of changes in external servers and in their own grants. It reads the journal of a workspace only while a client of that workspace listens.
 */
export function createChangeFeed(app: App): ChangeFeed {
  const listeners = new Set<ChangeListener>();
  const following = new Map<string, AbortController>();
  const running = new Set<Promise<void>>();
  const lists = new Map<ChangeListener, Set<ListKind>>();
  const updates = new Map<string, ResourceUpdate>();
  let timer: NodeJS.Timeout | undefined;

  function notifyAll(): void {
    timer = undefined;
    const changed = [...lists];
    const updated = [...updates.values()];
    lists.clear();
    updates.clear();
    for (const [listener, kinds] of changed) if (listeners.has(listener)) listener.listsChanged(kinds);
    if (updated.length > 0) for (const listener of listeners) listener.resourcesUpdated(updated);
  }

  const notifySoon = () => {
    timer ??= setTimeout(notifyAll, GATHER_MS).unref();
  };

  function listChanged(listener: ChangeListener, kind: ListKind): void {
    lists.set(listener, (lists.get(listener) ?? new Set()).add(kind));
    notifySoon();
  }

  const unsubscribe = app.upstreams.onChange((change) => {
    if (change.kind === 'resource') {
      updates.set(JSON.stringify([change.server, change.uri]), change);
      notifySoon();
    } else
      for (const listener of listeners)
        if (listener.caller.toolsets.has('gateway') && change.reaches(listener.caller.principal.workspace)) listChanged(listener, change.kind);
  });

  function seen(event: JournalEvent, workspace: string): void {
    const concerned = [...listeners].filter(({ caller }) => caller.principal.workspace === workspace);
    if (event.kind === 'token.revoked') for (const listener of concerned) listener.accessChanged();
    const kind = kindOf(event);
    if (kind) for (const listener of concerned) if (listener.caller.principal.subjects.includes(event.subject ?? '')) listChanged(listener, kind);
  }

  async function follow(workspace: string, signal: AbortSignal): Promise<void> {
    let after: number | undefined;
    while (!signal.aborted) {
      try {
        after ??= (await readHead(app.store.reader, workspace))?.seq ?? 0;
        for await (const page of app.store.follow(workspace, after, signal)) {
          for (const event of page) seen(event, workspace);
          after = page.at(-1)?.seq ?? after;
          if (page.length < BUSY) await pause(READ_MS, undefined, { signal, ref: false });
        }
      } catch (error) {
        if (signal.aborted) return;
        app.log.error('the journal could not be followed', { workspace, error });
        await pause(RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
      }
    }
  }

  return {
    listen(listener) {
      const { workspace } = listener.caller.principal;
      listeners.add(listener);
      if (!following.has(workspace)) {
        const stop = new AbortController();
        following.set(workspace, stop);
        const run = follow(workspace, stop.signal).finally(() => running.delete(run));
        running.add(run);
      }
      return () => {
        listeners.delete(listener);
        if ([...listeners].some(({ caller }) => caller.principal.workspace === workspace)) return;
        following.get(workspace)?.abort();
        following.delete(workspace);
      };
    },
    async close() {
      unsubscribe();
      clearTimeout(timer);
      for (const stop of following.values()) stop.abort();
      await Promise.all(running);
    },
  };
}

function kindOf({ kind, payload }: JournalEvent): ListKind | undefined {
  if (kind !== 'capability_granted' && kind !== 'capability_revoked') return undefined;
  const action = String(payload.action);
  if (action.startsWith('prompt.')) return 'prompts';
  return action.startsWith('resource.') ? 'resources' : 'tools';
}
