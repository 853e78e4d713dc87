import type { AgentHost } from '../../machine/agent-sessions/agent-host.ts';
import type { AgentSessions, SessionStart } from '../../machine/agent-sessions/agent-session.ts';

interface Session extends SessionStart {
  readonly pid: number;
  readonly typed: string[];
  state: 'running' | 'ended';
}

/** A step at which the test stops the server. Nothing runs after it, as if the server had been killed. */
export type SessionStep = 'start' | 'end' | 'type';

export interface PretendedHost extends AgentHost {
  /** The sessions that exist, by name. */
  readonly running: ReadonlyMap<string, Session>;
  /** All sessions, including those that have ended. */
  readonly started: readonly Session[];
  /** Ends the program of this session. */
  dies(name: string): void;
  /** Returns the same machine for a server that dies before or after this step. */
  dying(step: SessionStep, moment: 'before' | 'after'): { host: PretendedHost; died: Promise<void> };
}

/** Simulates agent sessions without programs, for tests of other features. Several servers may share the sessions, as on one machine. */
export function pretendedHost(): PretendedHost {
  const there = new Map<string, Session>();
  const started: Session[] = [];
  const screens = new Map<string, string>();
  const handleOf = ({ name, pid }: Session) => ({ name, pid, started: pid });
  const sessions: AgentSessions = {
    kind: 'tmux',
    async start(start) {
      if (there.has(start.name)) throw new Error(`there is a session ${start.name} already`);
      const session: Session = { ...start, pid: 1_000_000 + started.length, typed: [], state: 'running' };
      started.push(session);
      there.set(start.name, session);
      return handleOf(session);
    },
    async find(name) {
      const session = there.get(name);
      return session && handleOf(session);
    },
    async look({ name, pid }) {
      const session = there.get(name);
      if (session?.pid !== pid) return { state: 'gone' };
      return session.state === 'running' ? { state: 'running' } : { state: 'ended', code: 0 };
    },
    async end({ name, pid }) {
      if (there.get(name)?.pid === pid) there.delete(name);
    },
    screen: async () => 'its screen\n',
    async type({ name }, line) {
      there.get(name)?.typed.push(line);
      return true;
    },
    names: async () => [...there.keys()],
  };
  const hostWith = (own: AgentSessions): PretendedHost => ({
    machine: 'pretended',
    sessions: async () => own,
    tmux: async () => null,
    environment: (_passed, env) => ({ PATH: process.env.PATH ?? '', ...env }),
    keepScreen: async (name, text) => void screens.set(name, text),
    keptScreen: async (name) => screens.get(name) ?? null,
    boundLog: async () => {},
    running: there,
    started,
    dies(name) {
      const session = there.get(name);
      if (session) session.state = 'ended';
    },
    dying(step, moment) {
      const { promise: died, resolve } = Promise.withResolvers<void>();
      const real = sessions[step] as (...args: unknown[]) => Promise<unknown>;
      const fatal = async (...args: unknown[]) => {
        if (moment === 'after') await real(...args);
        resolve();
        return await new Promise<never>(() => {});
      };
      return { host: hostWith({ ...sessions, [step]: fatal }), died };
    },
  });
  return hostWith(sessions);
}
