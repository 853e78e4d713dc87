import { workspaceName } from '../../../kernel/ids.ts';
import type { ConfiguredServers } from './configured.ts';
import type { ServerEntry } from './entry.ts';

/** Creates an entry with default settings for a server that runs a program for one workspace. */
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

/** Attaches and detaches servers that are not in secrets.toml, for other parts of this process. */
export type Guests = Pick<ConfiguredServers, 'attach' | 'detach'>;
