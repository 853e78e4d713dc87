import type { ClientName } from '../../features/core/devices/connections.ts';
import type { FileWish } from './clients/client.ts';
import { CLIENT_SETUPS, inboxFile } from './clients/index.ts';
import { programsFor } from './clients/programs.ts';
import { linkedTo, requireInside, requireNoLink } from './edit/disk.ts';
import { shownPath } from './edit/shown.ts';

/** What a repository's agents are to be told, and where. */
export interface SetupPlan {
  readonly env: NodeJS.ProcessEnv;
  /** The top of the working tree. */
  readonly root: string;
  readonly origin: string;
  /** How Claude Code's hooks before and after tools and prompts reach the server. */
  readonly hooks: 'http' | 'command';
  readonly clients: readonly ClientName[];
  /** The servers that the clients know alone: no hooks, no inbox. Of a client that is not set up: what setup wrote besides would go. */
  readonly only?: 'server entry';
  readonly now: number;
}

/** One file of a plan. */
export interface Wanted extends FileWish {
  readonly client: ClientName | undefined;
  readonly shown: string;
}

export function wantedOf(plan: SetupPlan): Wanted[] {
  const setting = { ...plan, programs: programsFor(plan.env, plan.root) };
  const files = plan.clients.flatMap((client) => CLIENT_SETUPS[client].files(setting).map((file) => ({ ...file, client })));
  const wanted = plan.only ? onlyThose(files, plan.only) : [...files, { ...inboxFile(plan.root), client: undefined }];
  return wanted.map((file) => ({ ...file, shown: shownPath(plan.env, plan.root, file.path) }));
}

/** Where it lies, if setup may write there. */
export function ownPlace({ path, scope, shown, entries }: Wanted, root: string): string {
  if (entries.some(({ kind }) => kind === 'whole')) requireNoLink(path, shown);
  if (scope === 'repository') requireInside(root, path, shown);
  return linkedTo(path);
}

const onlyThose = <F extends FileWish>(files: readonly F[], what: string): F[] =>
  files.map((file) => ({ ...file, entries: file.entries.filter((entry) => entry.what === what) })).filter(({ entries }) => entries.length > 0);
