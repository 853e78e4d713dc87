import { hash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { signalAll, startOf } from '../process/group.ts';
import { ProgramMissing, type ProgramResult, runProgram } from '../process/process.ts';
import { type AgentSessions, SESSION_VARIABLE, type SessionHandle, type SessionLook, type SessionStart, type Size, sessionMark } from './agent-session.ts';
import { endSession } from './end-session.ts';

/** Tmux said no. */
export class TmuxFailed extends Error {
  override readonly name = 'TmuxFailed';
}

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT = 8 * 1024 * 1024;
const NAME = /^[A-Za-z0-9_-]{1,200}$/;
/** A path in an address of the system's own kind. */
const LONGEST_SOCKET = 100;
const DEFAULT_SIZE: Size = { columns: 200, rows: 50 };
const HISTORY = 50_000;
/** Each is a word of a command; tmux takes 16 kB of them at once. */
const MAX_KEYS = 2_000;
/** The server ends with its last session. A session whose program has ended counts until it is killed, because of `remain-on-exit`. */
const ENDS_EMPTY = ['set-option', '-s', 'exit-empty', 'on'];
const VIEW = '#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{pane_pid} #{pane_dead}';

export interface Tmux extends AgentSessions {
  /** What a person types to look at it. */
  attachArgs(name: string): string[];
  /** The same to end it. */
  endArgs(name: string): string[];
  /** Keys as they are, control characters too, without Enter. */
  send(name: string, text: string): Promise<void>;
  resize(name: string, size: Size): Promise<void>;
  /** What a person in front of it would see; null where there is no such session. */
  view(name: string): Promise<View | null>;
}

export interface View extends Size {
  /** Lines with colours as escape sequences. */
  readonly text: string;
  /** Counted from 0; null where it is hidden. */
  readonly cursor: { readonly column: number; readonly row: number } | null;
  readonly pid: number;
  /** Its program has ended; what it showed last is still there. */
  readonly ended: boolean;
}

export const socketIn = (home: string): string => {
  const path = join(home, 'tmux.sock');
  return path.length <= LONGEST_SOCKET ? path : join(tmpdir(), `covenant-${hash('sha256', home).slice(0, 16)}.sock`);
};

/** Null where there is none, or one that is too old to be told an environment. */
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

/** In these words it says that there is no such session. Anything else says nothing about the session: it may well be there. */
const NO_SESSION = /^(can't find |no current target|no server running on |error connecting to .* \((No such file or directory|Connection refused)\)$)/m;

/** The tmux server was just ending, with its last session, and did not read the command. Asked again, it has gone. */
const ENDING = /^(server exited|lost server)/m;
const ENDING_TRIES = 50;
const ENDING_MS = 20;

/** Sessions on a socket of the server's own: nobody's `tmux ls` shows them, and no configuration of a user's is read. */
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
  /** Null where there is no such session. */
  const ask = async (args: readonly string[]): Promise<string | null> => {
    const done = await ran(args);
    if (done.code === 0) return done.stdout;
    if (NO_SESSION.test(done.stderr)) return null;
    throw failed(done, args);
  };
  /** Exactly this session and no other that begins so. */
  const target = (name: string) => ['-t', `=${requireName(name)}:`];

  /** Runs one start or end after another. Otherwise another session's start and end could stop the server between the two commands of a start. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };

  /** The server first, and with an environment that no session's secrets are in: each session inherits it. */
  async function prepare(): Promise<void> {
    await mkdir(dirname(socket), { recursive: true });
    const settings = [
      // Until it has a session: `create` sets it on again.
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
    // Of the client's environment, which nobody else can read, the session takes what is named here. In one go with its start: the setting is the whole server's.
    const taken = ['set-option', '-g', 'update-environment', Object.keys(env).join(' ')];
    // By env: a single word would be given to a shell.
    const session = ['new-session', ...place, '--', 'env', file, ...args];
    const lines = [taken, session, ENDS_EMPTY].map((words) => `${words.map(quoted).join(' ')}\n`);
    try {
      // By its input: as arguments tmux takes no more than 16 kB. It starts where its client is: a folder that is named would be read as a format.
      // Never as the one that starts the server (-N): all sessions would inherit its environment.
      await run(['-N', 'source-file', '-'], { cwd, env, input: lines.join('') });
    } catch (error) {
      // The last line may not have been read, and the server may have no session.
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
    // Another session of the same name is not this one.
    if (Number(program) !== pid) return { state: 'gone' };
    if (dead === '1' && !how) {
      // Tmux may miss that its child has ended, until it is told to look.
      signalAll([Number(server)], 'SIGCHLD');
      shown = await pane();
    }
    if (dead === '1') return { state: 'ended', code: exitCode(shown ?? '') };
    return startOf(pid) === started ? { state: 'running' } : { state: 'gone' };
  }

  /** As bytes: a word that ends in ";" would be the end of the command, and no shorthand for a key is meant. */
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

/** Null where it was ended by a signal, or is not told. */
function exitCode(pane: string): number | null {
  const [, , , how] = pane.trim().split(' ');
  return how !== undefined && /^\d+$/.test(how) ? Number(how) : null;
}

/** One word of a command in a file, whatever is in it. At the beginning of a line, also of a quoted one, spaces would be left out. */
const quoted = (word: string): string => word.split('\n').map(quotedLine).join('"\\n"');
const quotedLine = (line: string): string => `'${line.replaceAll("'", `'\\''`)}'`;

function requireName(name: string): string {
  if (!NAME.test(name)) throw new TmuxFailed(`${JSON.stringify(name)} is no name that a session can have`);
  return name;
}
