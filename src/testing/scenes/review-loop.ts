import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { createAgentHost } from '../../machine/agent-sessions/agent-host.ts';
import { signalAll } from '../../machine/process/group.ts';
import type { AgentPlan } from '../programs/children/scripted-agent.ts';
import { COMPILED } from '../programs/compiled.ts';
import { endTmux, processesWith } from '../programs/processes.ts';
import { covenant, type RunningProgram, startProgram } from '../programs/program.ts';
import { temporaryFolder } from '../store/database.ts';
import { repositoryOnGitHub } from './pulls.ts';
import type { Body } from './workflow.ts';

const AGENT = fileURLToPath(new URL('../programs/children/scripted-agent.ts', import.meta.url));
/** How far the clock advances at a time. This is longer than the interval of all sweeps that tests wait for. */
const STEP_MS = 6_000;
export const HOUR = 3_600_000;

export interface LoopOptions {
  readonly plan?: Partial<Omit<AgentPlan, 'notes'>>;
  readonly env?: Record<string, string>;
  /** Additional lines for config.toml, which come before the launcher. */
  readonly config?: string;
  readonly tmux?: boolean;
}

/** Runs `covenant up` with scripted agents in real sessions, a repository with an origin, and a clock that the test controls. */
export async function reviewLoop({ plan, env = {}, config = '', tmux = true }: LoopOptions = {}) {
  const home = temporaryFolder();
  const notes = temporaryFolder();
  const clock = join(temporaryFolder(), 'clock');
  let now = Date.UTC(2026, 0, 1);
  writeFileSync(clock, String(now));
  const { repository, origin } = repositoryOnGitHub();
  const whole: AgentPlan = { notes, verdicts: [], ...plan };
  writeFileSync(join(home, 'config.toml'), `${config}\n${launcher(whole)}`);
  const path: Record<string, string> = tmux ? {} : { PATH: withoutTmux() };
  const at = { home, cwd: repository.path, env: { COVENANT_TEST_CLOCK: clock, ...path, ...env } };
  onTestFinished(() => endSessions(home, notes));
  let program = await startProgram(at);
  const run = async (...args: string[]): Promise<Body> => {
    const ran = await covenant(at, ...args, '--json');
    expect(ran.code, `covenant ${args.join(' ')}: ${ran.stdout}${ran.stderr}`).toBe(0);
    return ran.json;
  };

  return {
    at,
    repository,
    origin,
    run,
    program: (): RunningProgram => program,
    /** Lets reviewers send their feedback from now on. */
    release: (): void => writeFileSync(join(notes, 'released'), ''),
    /** Returns what an agent has recorded, in order. */
    notes: (id: string): Body[] =>
      existsSync(join(notes, `${id}.jsonl`))
        ? readFileSync(join(notes, `${id}.jsonl`), 'utf8')
            .split('\n')
            .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Body]))
        : [],
    start: async (...args: string[]): Promise<Body> => run('instances', 'start', '--repo', repository.path, '--agent', 'scripted', ...args),
    /** Does the same as `covenant instances show`, without starting a process. */
    async show(id: string): Promise<Body> {
      const { token } = JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8')) as { token: string };
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      const body = JSON.stringify({ instance_id: id });
      const response = await fetch(new URL('/api/actions/instances.show', program.url), { method: 'POST', headers, body });
      expect(response.status).toBe(200);
      return await response.json();
    },
    /** Advances the clock until the condition holds, because sweeps follow the clock. */
    async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
      await expect
        .poll(
          async () => {
            now += STEP_MS;
            writeFileSync(clock, String(now));
            return await holds();
          },
          { timeout: 60_000, interval: 150, message: what },
        )
        .toBe(true);
    },
    later(ms: number): void {
      now += ms;
      writeFileSync(clock, String(now));
    },
    /** Kills the server as a power failure would, and starts another one with the same address. */
    async killAndStartAgain(): Promise<void> {
      const { port } = new URL(program.url);
      await program.stop('SIGKILL');
      program = await startProgram(at, port);
    },
    sessions: () =>
      createAgentHost(home)
        .sessions()
        .then((sessions) => sessions.names()),
  };
}

function launcher(plan: AgentPlan): string {
  const text = (value: string) => JSON.stringify(value);
  return [
    '[launchers.scripted]',
    `command = ${text(process.execPath)}`,
    `args = [${text(AGENT)}, "{{prompt}}"]`,
    'prompt = "argument"',
    '[launchers.scripted.env]',
    `AGENT_PLAN = ${text(JSON.stringify(plan))}`,
    `NODE_COMPILE_CACHE = ${text(COMPILED)}`,
    '',
  ].join('\n');
}

/** Ends all agents. They are found by their environment, which contains the path of the folder for records. */
function endSessions(home: string, notes: string): void {
  endTmux(home);
  signalAll(processesWith(notes), 'SIGKILL');
}

/** Returns a PATH that contains all programs except tmux. */
function withoutTmux(): string {
  const folder = join(temporaryFolder(), 'bin');
  mkdirSync(folder);
  for (const from of (process.env.PATH ?? '').split(delimiter).filter((path) => existsSync(path))) {
    for (const name of readdirSync(from)) if (name !== 'tmux' && !existsSync(join(folder, name))) symlinkSync(join(from, name), join(folder, name));
  }
  return folder;
}
