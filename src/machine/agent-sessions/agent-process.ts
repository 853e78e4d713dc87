import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileDisk } from '../files.ts';
import { markedLeaders, processExists, startOf } from '../process/group.ts';
import { FolderMissing, isFolder, ProgramMissing, runProgram, startError } from '../process/process.ts';
import { type AgentSessions, SESSION_VARIABLE, type SessionHandle, sessionMark } from './agent-session.ts';
import { endSession } from './end-session.ts';

const SHOWN_BYTES = 64 * 1024;
const LONGEST_LOG = 16 * 1024 * 1024;
const PS_MS = 10_000;

const logOf = (logs: string, name: string) => join(logs, `${name}.log`);

/** Runs agent sessions without tmux. Each session is a process group without a terminal, and its output goes to a log. */
export function createProcesses(logs: string, leaders: typeof markedLeaders = markedLeaders): AgentSessions {
  const noteOf = (name: string) => join(logs, `${name}.pid`);

  /**
   * Finds all running sessions by the mark in their environment, even if they were never recorded. If the system does not show environments, uses the notes
   * next to the logs.
   */
  async function running(): Promise<SessionHandle[]> {
    const marked = leaders(SESSION_VARIABLE);
    if (!marked) return await noted();
    const found = new Map<string, SessionHandle>();
    for (const { pid, start, value } of marked) {
      const name = value.slice(0, value.lastIndexOf(':'));
      // Only the oldest process with a mark is the session itself. Processes that the session started inherit the mark, but are younger.
      if (value === sessionMark(name, logs) && !found.has(name)) found.set(name, { name, pid, started: start });
    }
    return [...found.values()];
  }

  async function noted(): Promise<SessionHandle[]> {
    const files = (await readdir(logs).catch(() => [])).filter((file) => file.endsWith('.pid'));
    const handles = await Promise.all(files.map(async (file) => read(file.slice(0, -'.pid'.length), await fileDisk.readText(join(logs, file)))));
    const alive = await Promise.all(handles.map(async (handle) => handle !== null && (await isRunning(handle))));
    return handles.filter((handle, index): handle is SessionHandle => alive[index] === true && handle !== null);
  }

  return {
    kind: 'process',
    async start({ name, cwd, file, args, env, input }) {
      if (!isFolder(cwd)) throw new FolderMissing(cwd);
      await mkdir(logs, { recursive: true, mode: 0o700 });
      await rm(noteOf(name), { force: true });
      // Open the log for appending, so that it can be shortened while the agent writes to it.
      const log = await open(logOf(logs, name), 'a', 0o600);
      try {
        const marked = { ...env, [SESSION_VARIABLE]: sessionMark(name, logs) };
        const child = spawn(file, [...args], { cwd, env: marked, detached: true, windowsHide: true, stdio: ['pipe', log.fd, log.fd] });
        // Without a listener, an error event would end the server.
        child.on('error', () => {});
        child.stdin?.on('error', () => {});
        await once(child, 'spawn').catch((error: unknown) => {
          throw startError(file, error);
        });
        const pid = child.pid as number;
        const started = await startTimeOf(pid);
        if (!leaders(SESSION_VARIABLE)) await fileDisk.replaceFile(noteOf(name), `${pid} ${started}\n`, 0o600);
        child.stdin?.end(input ?? '');
        child.unref();
        return { name, pid, started };
      } finally {
        await log.close();
      }
    },
    find: async (name) => (await running()).find((handle) => handle.name === name),
    look: async (handle) => ({ state: (await isRunning(handle)) ? 'running' : 'gone' }),
    async end({ name, pid, started }) {
      const now = await startTimeOf(pid);
      // If another program has the pid now, its group must not be ended. Processes that the session left behind are found by their mark.
      await endSession({ group: now === 0 || now === started ? pid : null, started, mark: sessionMark(name, logs) });
      await rm(noteOf(name), { force: true });
    },
    screen: async ({ name }) => await endOf(logOf(logs, name)),
    type: async () => false,
    names: async () => (await running()).map(({ name }) => name),
  };
}

const isRunning = async ({ pid, started }: SessionHandle): Promise<boolean> => processExists(pid) && (await startTimeOf(pid)) === started;

function read(name: string, note: string | null): SessionHandle | null {
  const [, pid, started] = /^([1-9]\d*) (\d+)\n$/.exec(note ?? '') ?? [];
  return pid === undefined ? null : { name, pid: Number(pid), started: Number(started) };
}

/** Returns when the process started, or 0 if it is not running or the system does not provide the time. */
async function startTimeOf(pid: number): Promise<number> {
  return startOf(pid) || (process.platform === 'linux' ? 0 : await startTimeByPs(pid));
}

/** Returns the start time in seconds, as reported by `ps`, which exists on every Unix. */
export async function startTimeByPs(pid: number): Promise<number> {
  try {
    const env = { PATH: process.env.PATH, LC_ALL: 'C' };
    const { stdout } = await runProgram('ps', ['-o', 'lstart=', '-p', String(pid)], { cwd: tmpdir(), env, timeoutMs: PS_MS, maxOutputBytes: 1_000 });
    return Math.floor((Date.parse(stdout.trim()) || 0) / 1_000);
  } catch (error) {
    if (error instanceof ProgramMissing) return 0;
    throw error;
  }
}

async function endOf(path: string): Promise<string> {
  const log = await open(path, 'r').catch(() => null);
  if (!log) return '';
  try {
    const { size } = await log.stat();
    const { buffer, bytesRead } = await log.read({ buffer: Buffer.alloc(Math.min(size, SHOWN_BYTES)), position: Math.max(0, size - SHOWN_BYTES) });
    return buffer.toString('utf8', 0, bytesRead).replace(/^\uFFFD+/, '');
  } finally {
    await log.close();
  }
}

/** Shortens a log that has grown too long. Its end stays, and new output is appended to that. */
export async function boundLog(logs: string, name: string, longest = LONGEST_LOG): Promise<void> {
  const path = logOf(logs, name);
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > longest) await writeFile(path, `(earlier output removed: the log had grown to ${size} bytes)\n${await endOf(path)}`);
}
