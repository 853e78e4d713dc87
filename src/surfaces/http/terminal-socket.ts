import type { WebSocket } from 'ws';
import { z } from 'zod';
import { INSTANCE_ID, type InstanceRow, requireWatchable } from '../../features/review/instances/index.ts';
import type { Principal } from '../../kernel/call.ts';
import { Refusal } from '../../kernel/reply.ts';
import { roleDenial } from '../../kernel/roles.ts';
import type { App } from '../../main.ts';
import { parseJson } from '../../wire/json.ts';
import type { Metrics } from './metrics.ts';
import { type HttpRefusal, refusal } from './refuse.ts';
import { createScreens, type TerminalScreen, type Watching, withoutSize } from './screens.ts';
import { type Admitted, CLOSE_GOING_AWAY, CLOSE_SIGNED_OUT, closeSlow, drained, type SocketRoute } from './upgrade.ts';

/** The largest message that a terminal takes, in bytes. */
export const MAX_BYTES = 16 * 1024;

const message = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('input'), data: z.string().min(1).max(4_096) }),
  z.strictObject({ type: z.literal('resize'), columns: z.int().min(20).max(500), rows: z.int().min(5).max(200) }),
]);

export type TerminalMessage = z.output<typeof message>;

/** What a person's terminal says, or what is wrong with it. */
export function readMessage(data: unknown, isBinary: boolean): TerminalMessage | { problem: string } {
  if (isBinary) return { problem: 'Messages are JSON text.' };
  const value = parseJson(String(data));
  if (value === undefined) return { problem: 'The message is not valid JSON.' };
  const read = message.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  return { problem: `${issue?.path.join('.') || 'message'}: ${issue?.message}. Send {"type":"input","data"} or {"type":"resize","columns","rows"}.` };
}

/** A reader that has this much unread gets the next screen when it has read it, and the newest one then. */
const HIGH_WATER_BYTES = 256 * 1024;

export type TerminalReply =
  | { type: 'connected'; instance_id: string; kind: string | null; write: boolean; message: string | null }
  | ({ type: 'screen' } & TerminalScreen)
  | { type: 'ended' }
  | { type: 'error'; code: string; message: string };

export const say = (ws: WebSocket, said: TerminalReply): void => ws.send(JSON.stringify(said));

/** False once it has been dropped because it reads nothing. */
export async function keepsUp(ws: WebSocket, stalledMs: number): Promise<boolean> {
  if (await drained(ws, HIGH_WATER_BYTES, stalledMs)) return true;
  closeSlow(ws, 'connect again');
  return false;
}

/** Screens are states: one who reads slowly misses those in between, and is never owed more than one. */
export function createSender(ws: WebSocket, stalledMs: number, isAllowed: () => Promise<boolean>) {
  let next: TerminalScreen | undefined;
  let shown = false;
  let sending: Promise<void> | undefined;
  async function pump(): Promise<void> {
    while (next && ws.readyState === ws.OPEN) {
      if (!(await keepsUp(ws, stalledMs)) || !(await isAllowed())) return;
      const screen = next;
      next = undefined;
      say(ws, { type: 'screen', ...screen });
    }
  }
  return {
    screen(screen: TerminalScreen): void {
      next = screen;
      shown = true;
      sending ??= pump()
        .catch(() => ws.terminate())
        .finally(() => {
          sending = undefined;
        });
    },
    hasShown: () => shown,
    async finish(said: TerminalReply): Promise<void> {
      await sending;
      say(ws, said);
      ws.close(1000, 'ended');
    },
  };
}

const PATH = /^\/api\/instances\/([^/]+)\/terminal$/;
/** Of what was kept of a terminal that is gone. */
const KEPT_LENGTH = 128 * 1024;
const CLOSE_REFUSED = 4409;

export interface TerminalLimits {
  /** How long between two looks at a screen. */
  readonly pollMs: number;
  /** Terminals that are open at once, of all instances. */
  readonly most: number;
  readonly stalledMs: number;
}
const LIMITS: TerminalLimits = { pollMs: 250, most: 64, stalledMs: 10_000 };

export interface TerminalRouteOptions {
  app: App;
  metrics: Metrics;
  /** Aborts when the server stops. */
  closing: AbortSignal;
  limits?: Partial<TerminalLimits> | undefined;
}

/** The screen of an instance as it changes, and, for who asks for it and may, its keyboard. */
export function terminalRoute({ app, metrics, closing, limits }: TerminalRouteOptions): SocketRoute {
  const { pollMs, most, stalledMs } = { ...LIMITS, ...limits };
  const host = app.agentHost;
  const screens = createScreens(host, pollMs);
  let open = 0;

  const action = (name: string) => {
    const found = app.registry.action(name);
    if (!found) throw new Error(`there is no action ${name}`);
    return found;
  };
  const [looking, typing] = [action('instances.logs'), action('instances.message')];
  /** To look on takes what its log takes, to type what a message takes. */
  const denial = (principal: Principal, write: boolean) => roleDenial(principal, looking) ?? (write ? roleDenial(principal, typing) : undefined);

  async function serve(ws: WebSocket, admitted: Admitted, id: string, write: boolean): Promise<void> {
    const { principal } = admitted;
    open++;
    metrics.terminals.inc();
    // What is sent before anybody listens would be lost.
    ws.pause();
    try {
      if (open > most) throw new Refusal('TOO_MANY_TERMINALS', `${most} terminals are open on this server.`, 'Close one of them.');
      const row = await requireWatchable(app.store.reader, principal, id, host.machine);
      await show(ws, admitted, row, write);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // A browser shows nothing of a refused upgrade: it is told here.
      say(ws, { type: 'error', code: error.code, message: `${error.message} ${error.next}` });
      ws.close(CLOSE_REFUSED, error.code);
    } finally {
      open--;
      metrics.terminals.dec();
      ws.resume();
    }
  }

  /** Until it ends, whoever ends it. */
  async function show(ws: WebSocket, { principal, current }: Admitted, row: InstanceRow, asked: boolean): Promise<void> {
    const { session_name: name, session_kind: kind, pid } = row;
    const runs = kind !== null && pid !== null && row.ended_at === null;
    const write = asked && runs && kind === 'tmux';
    if (write) await app.store.append(principal.workspace, [opened(principal, row)]);
    say(ws, { type: 'connected', instance_id: row.id, kind, write, message: about(row, runs) });
    if (!runs) return await showKept(ws, row);
    if (ws.readyState !== ws.OPEN) return;
    const ended = Promise.withResolvers<void>();
    const sender = createSender(ws, stalledMs, async () => await isStillAllowed(ws, current, write));
    const watching = screens.watch(
      { name, kind, pid, started: row.process_start ?? 0 },
      {
        changed: (screen) => sender.screen(screen),
        ended: () => void (sender.hasShown() ? sender.finish({ type: 'ended' }) : showKept(ws, row)).then(ended.resolve, ended.reject),
        failed: ended.reject,
      },
    );
    const leave = () => ended.resolve();
    ws.on('close', leave);
    closing.addEventListener('abort', leave);
    const take = async (message: ReturnType<typeof readMessage>) => {
      if ('problem' in message) say(ws, { type: 'error', code: 'INVALID_MESSAGE', message: message.problem });
      else if (!write) say(ws, { type: 'error', code: 'READ_ONLY', message: readOnly(row) });
      else if (await isStillAllowed(ws, current, true)) await act(ws, name, watching, message);
      await keepsUp(ws, stalledMs);
    };
    let turn = Promise.resolve();
    let waiting = 0;
    ws.on('message', (data, isBinary) => {
      // One after the other; meanwhile nothing more is read, but what came with it is there already.
      waiting++;
      ws.pause();
      turn = turn
        .then(() => take(readMessage(data, isBinary)))
        .catch(ended.reject)
        .finally(() => --waiting === 0 && ws.resume());
    });
    ws.resume();
    try {
      await ended.promise;
      if (closing.aborted) ws.close(CLOSE_GOING_AWAY, 'the server is stopping');
    } finally {
      watching.stop();
      closing.removeEventListener('abort', leave);
    }
  }

  async function act(ws: WebSocket, name: string, watching: Watching, message: TerminalMessage): Promise<void> {
    try {
      const tmux = await host.tmux();
      if (message.type === 'input') await tmux?.send(name, message.data);
      else await tmux?.resize(name, { columns: message.columns, rows: message.rows });
      watching.nudge();
    } catch (error) {
      app.log.warn('terminal', { session: name, error });
      say(ws, { type: 'error', code: 'TERMINAL_FAILED', message: 'The terminal did not take it: it may have ended.' });
    }
  }

  async function showKept(ws: WebSocket, row: InstanceRow): Promise<void> {
    const text = row.session_kind === 'process' ? await logOf(row) : await host.keptScreen(row.session_name);
    if (text) say(ws, { type: 'screen', ...withoutSize(text.slice(-KEPT_LENGTH)) });
    say(ws, { type: 'ended' });
    ws.close(1000, 'ended');
  }

  const logOf = async ({ session_name: name, pid, process_start }: InstanceRow) =>
    await (await host.sessions('process')).screen({ name, pid: pid ?? 0, started: process_start ?? 0 });

  async function isStillAllowed(ws: WebSocket, current: Admitted['current'], write: boolean): Promise<boolean> {
    const principal = await current();
    if (principal && !denial(principal, write)) return true;
    ws.close(CLOSE_SIGNED_OUT, 'the credential is no longer valid');
    return false;
  }

  return {
    maxBytes: MAX_BYTES,
    at(url) {
      const [, id] = PATH.exec(url.pathname) ?? [];
      if (id === undefined) return undefined;
      if (!INSTANCE_ID.test(id)) return { refusal: wrong('instance_id', `expected the id of an instance`) };
      const asked = url.searchParams.get('write') ?? '0';
      if (asked !== '0' && asked !== '1') return { refusal: wrong('write', 'expected 1, or nothing to look on') };
      const write = asked === '1';
      return {
        enter(admitted) {
          const denied = denial(admitted.principal, write);
          return denied ? { refusal: { status: 403, reply: denied } } : { serve: (ws) => serve(ws, admitted, id, write) };
        },
      };
    },
  };
}

/** What was typed is nobody's business but the agent's: the journal has that somebody could. */
const opened = ({ actor }: Principal, { id }: InstanceRow) =>
  ({ category: 'audit', kind: 'instance.terminal_opened', actor, subject: id, payload: { write: true } }) as const;

const about = (row: InstanceRow, runs: boolean): string | null =>
  !runs ? 'Its agent does not run: this is what was seen of it last.' : row.session_kind === 'process' ? readOnly(row) : null;

const readOnly = ({ session_kind }: InstanceRow): string =>
  session_kind === 'process'
    ? 'It runs without tmux and has no terminal: this is the end of its log, to be read only.'
    : 'This connection is read-only: connect with ?write=1 to type.';

const wrong = (field: string, expected: string): HttpRefusal =>
  refusal(400, 'MALFORMED_REQUEST', `${field}: ${expected}.`, 'Connect to /api/instances/ID/terminal, with ?write=1 to type.', { field });
