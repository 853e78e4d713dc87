import { hash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { signalAll, startOf } from '../process/group.ts';
import { ProgramMissing, type ProgramResult, runProgram } from '../process/process.ts';
import { type AgentSessions, SESSION_VARIABLE, type SessionHandle, type SessionLook, type SessionStart, type Size, sessionMark } from './agent-session.ts';
import { endSession } from './end-session.ts';

export class TmuxFailed extends Error {
  override readonly name = 'TmuxFailed';
}

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT = 8 * 1024 * 1024;
const NAME = /^[A-Za-z0-9_-]{1,200}$/;
/** Slightly less than the maximum length of a Unix socket path. */
const LONGEST_SOCKET = 100;
const DEFAULT_SIZE: Size = { columns: 200, rows: 50 };
const HISTORY = 50_000;
/** Limits the keys in one command, because tmux accepts at most 16 kB for a command and each key is a separate word. */
const MAX_KEYS = 2_000;
/**
 * This option makes the tmux server end with its last session. Because of `remain-on-exit`, a session whose program has ended still exists until it is
 * killed.
 */
const ENDS_EMPTY = ['set-option', '-s', 'exit-empty', 'on'];
const VIEW = '#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{pane_pid} #{pane_dead}';

export interface Tmux extends AgentSessions {
  /** The command that a person runs to watch the session. */
  attachArgs(name: string): string[];
  /** The command that ends the session. */
  endArgs(name: string): string[];
  /** Sends the keys unchanged, including control characters. Does not add Enter. */
  send(name: string, text: string): Promise<void>;
  resize(name: string, size: Size): Promise<void>;
  /** Returns what a person at the terminal would see, or null if the session does not exist. */
  view(name: string): Promise<View | null>;
}

export interface View extends Size {
  /** The lines of the screen, with escape sequences for colours. */
  readonly text: string;
  /** Column and row, counted from 0. Null if the cursor is hidden. */
  readonly cursor: { readonly column: number; readonly row: number } | null;
  readonly pid: number;
  /** True if the program has ended. The last output is still on the screen. */
  readonly ended: boolean;
}

export const socketIn = (home: string): string => {
  const path = join(home, 'tmux.sock');
  return path.length <= LONGEST_SOCKET ? path : join(tmpdir(), `covenant-${hash('sha256', home).slice(0, 16)}.sock`);
};

/** Returns null if tmux is missing or too old to pass an environment to a session. */
export async function tmuxVersion(env: NodeJS.ProcessEnv = process.env): Promise<string | null> {
  try {
    const { stdout } = await runProgram('tmux', ['-V'], { cwd: tmpdir(), env, timeoutMs: TIMEOUT_MS, maxOutputBytes: 1_000 });
    const version = /(\d+)\.(\d+)/.exec(stdout);
    return version && (Number(version[1]) > 3 || (Number(version[1]) === 3 && Number(version[2]) >= 2)) ? stdout.trim() : null;
  } catch (error) {
    if (error instanceof ProgramMissing) return null;
    throw error;
  }
}

/** Matches the messages with which tmux reports that a session does not exist. After any other error the session may still exist. */
const NO_SESSION = /^(can't find |no current target|no server running on |error connecting to .* \((No such file or directory|Connection refused)\)$)/m;

/** Matches the message of a tmux server that is about to end and has not read the command. A retry does not reach that server anymore. */
const ENDING = /^(server exited|lost server)/m;
const ENDING_TRIES = 50;
const ENDING_MS = 20;

/** Runs sessions on a socket that belongs to Covenant. They do not appear in a user's `tmux ls`, and tmux does not read the user's configuration. */
export function createTmux(socket: string, base: Readonly<Record<string, string>>): Tmux {
  const ran = async (
    args: readonly string[],
    { cwd = tmpdir(), env = base, input }: Partial<Pick<SessionStart, 'cwd' | 'env' | 'input'>> = {},
  ): Promise<ProgramResult> => {
    const options = { cwd, env: { ...env }, input, timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT };
    for (let tries = 1; ; tries++) {
      const done = await runProgram('tmux', ['-S', socket, '-f', '/dev/null', ...args], options);
      if (done.code === 0 || tries === ENDING_TRIES || !ENDING.test(done.stderr)) return done;
      await wait(ENDING_MS);
    }
  };
  const failed = ({ code, stderr }: ProgramResult, args: readonly string[]) =>
    new TmuxFailed(stderr.trim().split('\n')[0]?.slice(0, 500) || `tmux ${args[0]} ended with code ${code}`);
  const run = async (args: readonly string[], how?: Parameters<typeof ran>[1]): Promise<string> => {
    const done = await ran(args, how);
    if (done.code !== 0) throw failed(done, args);
    return done.stdout;
  };
  /** Runs a tmux command. Returns null if the session does not exist. */
  const ask = async (args: readonly string[]): Promise<string | null> => {
    const done = await ran(args);
    if (done.code === 0) return done.stdout;
    if (NO_SESSION.test(done.stderr)) return null;
    throw failed(done, args);
  };
  /** The "=" makes tmux match the exact name. Without it, tmux would also accept a session whose name begins with this one. */
  const target = (name: string) => ['-t', `=${requireName(name)}:`];

  /** Sessions are started and ended one after another. Otherwise, if another session ended between the two commands of a start, the tmux server could stop. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };

  /**
   * Starts the tmux server. This happens before any session starts, because all sessions inherit the server's environment, and it must not contain the
   * secrets of one of them.
   */
  async function prepare(): Promise<void> {
    await mkdir(dirname(socket), { recursive: true });
    const settings = [
      // The tmux server must not end while it has no session yet. The command that starts a session switches this option on again.
      ['set-option', '-s', 'exit-empty', 'off'],
      ['set-option', '-g', 'remain-on-exit', 'on'],
      ['set-option', '-g', 'history-limit', String(HISTORY)],
      ['set-option', '-g', 'status', 'off'],
      ['set-option', '-g', 'default-terminal', 'screen-256color'],
    ];
    await run(['start-server', ...settings.flatMap((setting) => [';', ...setting])]);
  }

  async function create({ name, cwd, file, args, env: given }: SessionStart): Promise<SessionHandle> {
    const env = { ...given, [SESSION_VARIABLE]: sessionMark(name, socket) };
    const { columns, rows } = DEFAULT_SIZE;
    const place = ['-d', '-s', requireName(name), '-x', String(columns), '-y', String(rows)];
    await prepare();
    // The session copies these variables from the environment of the tmux client, which nobody else can read. The option applies to all sessions, so it is set
    // together with the start of this session.
    const taken = ['set-option', '-g', 'update-environment', Object.keys(env).join(' ')];
    // The program is started through `env`, because tmux would run a command that is a single word in a shell.
    const session = ['new-session', ...place, '--', 'env', file, ...args];
    const lines = [taken, session, ENDS_EMPTY].map((words) => `${words.map(quoted).join(' ')}\n`);
    try {
      // The commands go through standard input, because tmux accepts at most 16 kB of arguments. The folder is passed as the client's working folder, because
      // tmux would expand format characters in an argument. -N prevents tmux from starting a server here, because all sessions of that server would inherit
      // this environment.
      await run(['-N', 'source-file', '-'], { cwd, env, input: lines.join('') });
    } catch (error) {
      // Tmux may have failed before the last line, which makes it end with its last session. So send that line again.
      await ran(['-N', ...ENDS_EMPTY]).catch(() => {});
      throw error;
    }
    const pid = Number((await run(['list-panes', ...target(name), '-F', '#{pane_pid}'])).trim());
    return { name, pid, started: startOf(pid) };
  }

  async function look({ name, pid, started }: SessionHandle): Promise<SessionLook> {
    const pane = () => ask(['list-panes', ...target(name), '-F', '#{pid} #{pane_pid} #{pane_dead} #{?pane_dead_signal,signal,}#{pane_dead_status}']);
    let shown = await pane();
    const [server, program, dead, how] = shown?.trim().split(' ') ?? [];
    // In the meantime, a new session with the same name may have started.
    if (Number(program) !== pid) return { state: 'gone' };
    if (dead === '1' && !how) {
      // Tmux sometimes does not notice that its child has ended until it receives SIGCHLD.
      signalAll([Number(server)], 'SIGCHLD');
      shown = await pane();
    }
    if (dead === '1') return { state: 'ended', code: exitCode(shown ?? '') };
    return startOf(pid) === started ? { state: 'running' } : { state: 'gone' };
  }

  /** Sends the text as hexadecimal bytes. Otherwise tmux would treat a ";" at the end of a word as the end of the command, and some words as names of keys. */
  async function send(name: string, text: string): Promise<void> {
    const keys = [...Buffer.from(text)].map((byte) => byte.toString(16).padStart(2, '0'));
    for (let sent = 0; sent < keys.length; sent += MAX_KEYS) await run(['send-keys', ...target(name), '-H', ...keys.slice(sent, sent + MAX_KEYS)]);
  }

  return {
    kind: 'tmux',
    start: (start) => inTurn(() => create(start)),
    async find(name) {
      const pane = await ask(['list-panes', ...target(name), '-F', '#{pane_pid}']);
      const pid = Number(pane?.trim());
      return pane === null ? undefined : { name, pid, started: startOf(pid) };
    },
    look,
    async end(handle) {
      await inTurn(async () => {
        if ((await look(handle)).state !== 'gone') await ask(['kill-session', '-t', `=${requireName(handle.name)}`]);
      });
      await endSession({ group: handle.pid, started: handle.started, mark: sessionMark(handle.name, socket) });
    },
    async screen({ name }, lines = 0) {
      return (await ask(['capture-pane', '-p', '-e', ...target(name), '-S', String(-lines)])) ?? '';
    },
    async type({ name }, line) {
      await send(name, line.replace(/\p{Cc}/gu, ' '));
      await run(['send-keys', ...target(name), 'Enter']);
      return true;
    },
    send,
    async view(name) {
      const seen = await ask(['display-message', '-p', ...target(name), VIEW, ';', 'capture-pane', '-p', '-e', ...target(name)]);
      if (seen === null) return null;
      const line = seen.indexOf('\n');
      const [columns = 0, rows = 0, column = 0, row = 0, shown, pid = 0, dead] = seen.slice(0, line).split(' ').map(Number);
      return { columns, rows, pid, ended: dead === 1, cursor: shown === 1 ? { column, row } : null, text: seen.slice(line + 1) };
    },
    async resize(name, { columns, rows }) {
      await run(['resize-window', ...target(name), '-x', String(columns), '-y', String(rows)]);
    },
    async names() {
      return ((await ask(['list-sessions', '-F', '#{session_name}'])) ?? '').split('\n').filter((name) => name !== '');
    },
    endArgs: (name) => ['-S', socket, 'kill-session', '-t', `=${requireName(name)}`],
    attachArgs: (name) => ['-S', socket, 'attach-session', '-t', `=${requireName(name)}`],
  };
}

/** Returns null if a signal ended the program, or if tmux does not report an exit code. */
function exitCode(pane: string): number | null {
  const [, , , how] = pane.trim().split(' ');
  return how !== undefined && /^\d+$/.test(how) ? Number(how) : null;
}

/** Quotes one word for a tmux command file. Line breaks are escaped, because even inside quotes tmux drops spaces at the start of a line. */
const quoted = (word: string): string => word.split('\n').map(quotedLine).join('"\\n"');
const quotedLine = (line: string): string => `'${line.replaceAll("'", `'\\''`)}'`;

function requireName(name: string): string {
  if (!NAME.test(name)) throw new TmuxFailed(`${JSON.stringify(name)} is not a valid session name`);
  return name;
}
