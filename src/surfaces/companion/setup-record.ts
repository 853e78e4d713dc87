import { join } from 'node:path';
import { covibeHome, readJson } from '../../wire/covibe-home.ts';
import type { WrittenEntry } from './edit/entry.ts';
import { hashOf } from './hash.ts';

/** A file that setup has written to. */
export interface FileRecord {
  readonly path: string;
  /**
   * The whole content before setup, which removal restores. Null if there was no file.
   * Undefined if the content is unknown, or contains a token and must not be stored.
   */
  readonly before?: string | null;
  /** The hash of the file after setup wrote it. As long as the hash matches, nobody has changed the file. */
  readonly after: string;
  readonly entries: readonly WrittenEntry[];
}

/** A record of what setup wrote for one repository, or in files that all repositories on this machine share. */
export interface SetupRecord {
  /** The repositories that need these files. */
  readonly roots: readonly string[];
  readonly at: number;
  readonly files: readonly FileRecord[];
  /** Folders that setup created, outermost first. */
  readonly folders: readonly string[];
}

export type RecordScope = { readonly repository: string } | 'machine';

const NOTHING: SetupRecord = { roots: [], at: 0, files: [], folders: [] };

export const recordPath = (env: NodeJS.ProcessEnv, scope: RecordScope): string =>
  join(covibeHome(env), 'setups', `${scope === 'machine' ? scope : hashOf(scope.repository)}.json`);

export function readRecord(env: NodeJS.ProcessEnv, scope: RecordScope): SetupRecord {
  const { roots, at, files, folders } = (readJson(recordPath(env, scope)) ?? {}) as Partial<SetupRecord>;
  return Array.isArray(roots) && typeof at === 'number' && Array.isArray(files) && Array.isArray(folders) ? { roots, at, files, folders } : NOTHING;
}

export const recordText = (record: SetupRecord): string => `${JSON.stringify(record, null, 2)}\n`;
