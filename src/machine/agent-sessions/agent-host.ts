import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileDisk } from '../files.ts';
import { childEnvironment } from '../process/environment.ts';
import { boundLog, createProcesses } from './agent-process.ts';
import type { AgentSessions } from './agent-session.ts';
import { createTmux, socketIn, type Tmux, tmuxVersion } from './tmux.ts';

/** Runs the agents that the server starts: in tmux if available, otherwise as plain processes with a log. */
export interface AgentHost {
  /** Identifies this machine and home, where the sessions and worktrees are. */
  readonly machine: string;
  /** Tmux if available, otherwise plain processes. For an existing session, pass the kind with which it was started. */
  sessions(kind?: AgentSessions['kind']): Promise<AgentSessions>;
  /** Null if tmux is missing or too old. */
  tmux(): Promise<Tmux | null>;
  /** The whole environment of an agent: what any program needs, what its launcher passes on, and its own variables. */
  environment(passed: readonly string[], own: Readonly<Record<string, string>>): Record<string, string>;
  /** Stores the last screen of a terminal, so that it can be read after the terminal is gone. */
  keepScreen(name: string, text: string): Promise<void>;
  keptScreen(name: string): Promise<string | null>;
  /** Shortens the log of a plain process. Nothing else limits its size. */
  boundLog(name: string): Promise<void>;
}

export function createAgentHost(home: string, server: NodeJS.ProcessEnv = process.env): AgentHost {
  const folder = join(home, 'instances');
  const base = childEnvironment(server, {});
  const tmux = createTmux(socketIn(home), base);
  const processes = createProcesses(folder);
  let hasTmux = false;
  // Checked again until tmux is found, because it may be installed while the server runs.
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
