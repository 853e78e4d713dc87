import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileDisk } from '../files.ts';
import { childEnvironment } from '../process/environment.ts';
import { boundLog, createProcesses } from './agent-process.ts';
import type { AgentSessions } from './agent-session.ts';
import { createTmux, socketIn, type Tmux, tmuxVersion } from './tmux.ts';

/** Runs the agents that the server starts. They run in tmux if it is available, otherwise as plain processes whose output goes to a log. */
export interface AgentHost {
  /** Identifies this machine and home, where the sessions and worktrees are. */
  readonly machine: string;
  /** Without `kind`, uses tmux if it is available, otherwise plain processes. For an existing session, pass the kind that it was started with. */
  sessions(kind?: AgentSessions['kind']): Promise<AgentSessions>;
  /** Null if tmux is missing or too old. */
  tmux(): Promise<Tmux | null>;
  /** Returns the complete environment of an agent: the variables that every program needs, those that its launcher passes on, and the agent's own. */
  environment(passed: readonly string[], own: Readonly<Record<string, string>>): Record<string, string>;
  /** Stores the last screen of a terminal, so that it can still be shown after the terminal has ended. */
  keepScreen(name: string, text: string): Promise<void>;
  keptScreen(name: string): Promise<string | null>;
  /** Shortens the log of a plain process, because its size has no other limit. */
  boundLog(name: string): Promise<void>;
}

export function createAgentHost(home: string, server: NodeJS.ProcessEnv = process.env): AgentHost {
  const folder = join(home, 'instances');
  const base = childEnvironment(server, {});
  const tmux = createTmux(socketIn(home), base);
  const processes = createProcesses(folder);
  let hasTmux = false;
  // Until tmux is found, each call looks for it again, because it may be installed while the server is running.
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
