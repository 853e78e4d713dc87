import { workspaceName } from '../../../kernel/ids.ts';
import type { ConfiguredServers } from './configured.ts';
import type { ServerEntry } from './entry.ts';

/** A program as a server of this name for one workspace, with default settings. */
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

/** Servers that are in no file: something that runs here attaches and detaches them. */
export type Guests = Pick<ConfiguredServers, 'attach' | 'detach'>;
