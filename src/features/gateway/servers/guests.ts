import { workspaceName } from '../../../kernel/ids.ts';
import type { ConfiguredServers } from './configured.ts';
import type { ServerEntry } from './entry.ts';

/** The entry of a server with this name, which runs a program for one workspace with default settings. */
export const guestEntry = (
  name: string,
  workspace: string,
  program: { readonly command: string; readonly args: readonly string[] },
  timeoutMs: number,
): ServerEntry => ({
  name,
  workspace,
  workspaces: [workspaceName(workspace)],
  enabled: true,
  prefix: true,
  include: undefined,
  exclude: [],
  lazy: false,
  timeoutMs,
  protocol: 'auto',
  transport: { kind: 'stdio', ...program, env: {}, cwd: undefined },
  line: 0,
});

/** Servers that are in no file. Parts of this process attach and detach them. */
export type Guests = Pick<ConfiguredServers, 'attach' | 'detach'>;
