import { join } from 'node:path';
import { covibeHome, readJson, replaceFile } from '../../../wire/covibe-home.ts';

/** What the watcher says of itself, for `covibe-local doctor`. */
export interface WatchStatus {
  /** Null once it has ended as it should. */
  readonly pid: number | null;
  readonly version: string;
  readonly origin: string;
  /** When the server last had everything; null: not yet. */
  readonly last_sync_at: number | null;
  readonly sent: number;
  readonly waiting: number;
  readonly problem: string | null;
}

const pathOf = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'watch.json');

export const writeWatchStatus = (env: NodeJS.ProcessEnv, status: WatchStatus): void => replaceFile(pathOf(env), `${JSON.stringify(status, null, 2)}\n`);

/** Empty where none has run. */
export const readWatchStatus = (env: NodeJS.ProcessEnv): Partial<WatchStatus> => (readJson(pathOf(env)) ?? {}) as Partial<WatchStatus>;
