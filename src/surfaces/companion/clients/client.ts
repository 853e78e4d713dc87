import type { ClientName } from '../../../features/core/devices/connections.ts';
import type { Entry } from '../edit/entry.ts';
import type { Programs } from './programs.ts';

/** What a client's files depend on. */
export interface Setting {
  readonly env: NodeJS.ProcessEnv;
  readonly root: string;
  readonly origin: string;
  readonly hooks: 'http' | 'command';
  readonly programs: Programs;
}

/** What is to stand in one file. */
export interface FileWish {
  readonly path: string;
  /** `machine`: one file for all repositories. */
  readonly scope: 'repository' | 'machine';
  readonly entries: readonly Entry[];
  /** What the person has to do once it is written. */
  readonly note?: string;
}

/** How one client is set up. */
export interface ClientSetup {
  readonly name: ClientName;
  /** Any of these programs or folders says that it is on this machine. */
  readonly programs: readonly string[];
  readonly folders: (env: NodeJS.ProcessEnv) => readonly string[];
  readonly files: (setting: Setting) => readonly FileWish[];
}
