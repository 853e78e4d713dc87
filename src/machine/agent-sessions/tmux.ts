import { hash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { signalAll, startOf } from '../process/group.ts';
import { ProgramMissing, type ProgramResult, runProgram } from '../process/process.ts';
import { type AgentSessions, SESSION_VARIABLE, type SessionHandle, type SessionLook, type SessionStart, type Size, sessionMark } from './agent-session.ts';
import { endSession } from './end-session.ts';

/** Tmux reported a failure. */
export class TmuxFailed extends Error {
  override readonly name = 'TmuxFailed';
}

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT = 8 * 1024 * 1024;
const NAME = /^[A-Za-z0-9_-]{1,200}$/;
/** The maximum length of a Unix socket path, with some margin. */
const LONGEST_SOCKET = 100;
const DEFAULT_SIZE: Size = { columns: 200, rows: 50 };
const HISTORY = 50_000;
/** Each key is one word of a command, and tmux accepts at most 16 kB in one command. */
const MAX_KEYS = 2_000;
/** The tmux server ends with its last session. Because of `remain-on-exit`, a session exists until it is killed, even if its program has ended. */
const ENDS_EMPTY = ['set-option', '-s', 'exit-empty', 'on'];
const VIEW = '#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{pane_pid} #{pane_dead}';

export interface Tmux extends AgentSessions {
  /** The command with which a person watches the session. */
  attachArgs(name: string): string[];
  /** The command that ends it. */
  endArgs(name: string): string[];
  /** Sends keys unchanged, including control characters, without Enter. */
  send(name: string, text: string): Promise<void>;
  resize(name: string, size: Size): Promise<void>;
  /** What a person in front of the terminal would see; null if the session does not exist. */
  view(name: string): Promise<View | null>;
}

export interface View extends Size {
  /** Lines with colours as escape sequences. */
  readonly text: string;
  /** Counted from 0; null if hidden. */
  readonly cursor: { readonly column: number; readonly row: number } | null;
  readonly pid: number;
  /** Its program has ended; the last output is still there. */
  readonly ended: boolean;
}

export const socketIn = (home: string): string => {
  const path = join(home, 'tmux.sock');
  return path.length <= LONGEST_SOCKET ? path : join(tmpdir(), `covenant-${hash('sha256', home).slice(0, 16)}.sock`);
};

/** Null if tmux is missing, or too old to pass an environment. */
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

/** Tmux's messages for a missing session. After any other error the session may still exist. */
const NO_SESSION = /^(can't find |no current target|no server running on |error connecting to .* \((No such file or directory|Connection refused)\)$)/m;

/** The tmux server was ending with its last session and did not read the command. On a retry it is gone. */
const ENDING = /^(server exited|lost server)/m;
const ENDING_TRIES = 50;
const ENDING_MS = 20;

/** Sessions on the server's own socket: they do not show in anyone's `tmux ls`, and no user configuration is read. */
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
  /** Null if the session does not exist. */
  const ask = async (args: readonly string[]): Promise<string | null> => {
    const done = await ran(args);
    if (done.code === 0) return done.stdout;
    if (NO_SESSION.test(done.stderr)) return null;
    throw failed(done, args);
  };
  /** Matches exactly this session, not others with the same prefix. */
  const target = (name: string) => ['-t', `=${requireName(name)}:`];

  /** Runs starts and ends one after another. Otherwise the end of another session could stop the tmux server between the two commands of a start. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };

  /** Starts the tmux server first, with an environment that contains no session's secrets: each session inherits it. */
  async function prepare(): Promise<void> {
    await mkdir(dirname(socket), { recursive: true });
    const settings = [
      // Off until it has a session: `create` switches it on again.
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
    // The session copies the variables named here from the client's environment, which nobody else can read. The option is global, so it is set in the
    // same command that starts the session.
    const taken = ['set-option', '-g', 'update-environment', Object.keys(env).join(' ')];
    // Started through `env`, because tmux would pass a command of one word to a shell.
    const session = ['new-session', ...place, '--', 'env', file, ...args];
    const lines = [taken, session, ENDS_EMPTY].map((words) => `${words.map(quoted).join(' ')}\n`);
    try {
      // The commands go through standard input, because tmux accepts at most 16 kB of arguments. The session inherits the client's working folder, because
      // tmux would expand a folder in an argument as a format. With -N, tmux does not start a server here: all its sessions would inherit this environment.
      await run(['-N', 'source-file', '-'], { cwd, env, input: lines.join('') });
    } catch (error) {
      // Tmux may not have read the last line, and its server may have no session. It must still end.
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
    // A different session may have the same name by now.
    if (Number(program) !== pid) return { state: 'gone' };
    if (dead === '1' && !how) {
      // Tmux may miss that its child has ended, until it gets SIGCHLD.
      signalAll([Number(server)], 'SIGCHLD');
      shown = await pane();
    }
    if (dead === '1') return { state: 'ended', code: exitCode(shown ?? '') };
    return startOf(pid) === started ? { state: 'running' } : { state: 'gone' };
  }

  /** Sends the text as bytes. Otherwise tmux would end the command at a word ending in ";", and would read some words as names of keys. */
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

/** Null if it was ended by a signal, or tmux does not know. */
function exitCode(pane: string): number | null {
  const [, , , how] = pane.trim().split(' ');
  return how !== undefined && /^\d+$/.test(how) ? Number(how) : null;
}

/** Quotes one word of a command file. Line breaks are written as escapes, because tmux drops spaces at the start of a line, even inside quotes. */
const quoted = (word: string): string => word.split('\n').map(quotedLine).join('"\\n"');
const quotedLine = (line: string): string => `'${line.replaceAll("'", `'\\''`)}'`;

function requireName(name: string): string {
  if (!NAME.test(name)) throw new TmuxFailed(`${JSON.stringify(name)} is not a valid session name`);
  return name;
}
