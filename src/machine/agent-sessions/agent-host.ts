import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileDisk } from '../files.ts';
import { childEnvironment } from '../process/environment.ts';
import { boundLog, createProcesses } from './agent-process.ts';
import type { AgentSessions } from './agent-session.ts';
import { createTmux, socketIn, type Tmux, tmuxVersion } from './tmux.ts';

/** Where agents run that the server starts: in tmux where it is, else as plain processes with a log. */
export interface AgentHost {
  /** Identifies this machine and home, where the sessions and worktrees are. */
  readonly machine: string;
  /** Tmux where it is, else plain processes. What was started is found again by its kind. */
  sessions(kind?: AgentSessions['kind']): Promise<AgentSessions>;
  /** Null where there is none, or one too old. */
  tmux(): Promise<Tmux | null>;
  /** The whole environment of an agent: what any program needs, what its launcher has passed on, and its own. */
  environment(passed: readonly string[], own: Readonly<Record<string, string>>): Record<string, string>;
  /** What a terminal showed last, for when it is gone. */
  keepScreen(name: string, text: string): Promise<void>;
  keptScreen(name: string): Promise<string | null>;
  /** Of the log of a plain process, which nobody else cuts. */
  boundLog(name: string): Promise<void>;
}

export function createAgentHost(home: string, server: NodeJS.ProcessEnv = process.env): AgentHost {
  const folder = join(home, 'instances');
  const base = childEnvironment(server, {});
  const tmux = createTmux(socketIn(home), base);
  const processes = createProcesses(folder);
  let hasTmux = false;
  // Asked again until it is there: it may be installed while the server runs.
  const isThere = async () => {
    hasTmux ||= (await tmuxVersion(base)) !== null;
    return hasTmux;
  };
  const kept = (name: string) => join(folder, `${name}.screen`);
  return {
    machine: `${hostname()}:${home}`,
    async sessions(kind) {
      return (kind ?? ((await isThere()) ? 'tmux' : 'process')) === 'tmux' ? tmux : processes;
    },
    tmux: async () => ((await isThere()) ? tmux : null),
    environment(passed, own) {
      const given = Object.fromEntries(passed.flatMap((name) => (server[name] === undefined ? [] : [[name, server[name]]])));
      return childEnvironment(server, { ...given, ...own });
    },
    async keepScreen(name, text) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await fileDisk.replaceFile(kept(name), text, 0o600);
    },
    keptScreen: (name) => fileDisk.readText(kept(name)),
    boundLog: (name) => boundLog(folder, name),
  };
}
