import type { WebSocket } from 'ws';
import { INSTANCE_ID, type InstanceRow, requireWatchable } from '../../features/review/instances/index.ts';
import type { Principal } from '../../kernel/call.ts';
import { Refusal } from '../../kernel/reply.ts';
import { roleDenial } from '../../kernel/roles.ts';
import type { App } from '../../main.ts';
import type { Metrics } from './metrics.ts';
import { type HttpRefusal, refusal } from './refuse.ts';
import { createScreens, type ScreenSubscription, withoutSize } from './screens.ts';
import { createSender, MAX_BYTES, readMessage, sendReply, type TerminalMessage, waitOrDrop } from './terminal-messages.ts';
import { type Admitted, CLOSE_GOING_AWAY, CLOSE_SIGNED_OUT, type SocketRoute } from './upgrade.ts';

const PATH = /^\/api\/instances\/([^/]+)\/terminal$/;
/** The maximum length of the stored screen or log that a viewer of an ended session gets. */
const KEPT_LENGTH = 128 * 1024;
const CLOSE_REFUSED = 4409;

export interface TerminalLimits {
  /** The interval between two captures of a screen. */
  readonly pollMs: number;
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

/** Streams the screen of an instance. With `write=1`, it also accepts input, if the caller has the permission. */
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
  const [logsAction, messageAction] = [action('instances.logs'), action('instances.message')];
  /**
   * Returns a refusal if the role of the caller is not sufficient. Watching needs the
   * same role as reading the log. Typing also needs the role for sending a message.
   */
  const denial = (principal: Principal, write: boolean) => roleDenial(principal, logsAction) ?? (write ? roleDenial(principal, messageAction) : undefined);

  async function serve(ws: WebSocket, admitted: Admitted, id: string, write: boolean): Promise<void> {
    const { principal } = admitted;
    open++;
    metrics.terminals.inc();
    // Pauses the socket until its listener is added, because messages that arrive before that would be lost.
    ws.pause();
    try {
      if (open > most)
        throw new Refusal('TOO_MANY_TERMINALS', `This server already has ${most} open terminals, which is its limit.`, 'Close a terminal, then connect again.');
      const row = await requireWatchable(app.store.reader, principal, id, host.machine);
      await show(ws, admitted, row, write);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // The refusal is sent over the open socket, because a page cannot read the reason of a refused upgrade.
      sendReply(ws, { type: 'error', code: error.code, message: `${error.message} ${error.next}` });
      ws.close(CLOSE_REFUSED, error.code);
    } finally {
      open--;
      metrics.terminals.dec();
      ws.resume();
    }
  }

  /** Streams until the session ends, the client disconnects or the server stops. */
  async function show(ws: WebSocket, { principal, current }: Admitted, row: InstanceRow, asked: boolean): Promise<void> {
    const { session_name: name, session_kind: kind, pid } = row;
    const runs = kind !== null && pid !== null && row.ended_at === null;
    const write = asked && runs && kind === 'tmux';
    if (write) await app.store.append(principal.workspace, [openedEvent(principal, row)]);
    sendReply(ws, { type: 'connected', instance_id: row.id, kind, write, message: about(row, runs) });
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
      if ('problem' in message) sendReply(ws, { type: 'error', code: 'INVALID_MESSAGE', message: message.problem });
      else if (!write) sendReply(ws, { type: 'error', code: 'READ_ONLY', message: readOnly(row) });
      else if (await isStillAllowed(ws, current, true)) await act(ws, name, watching, message);
      await waitOrDrop(ws, stalledMs);
    };
    let turn = Promise.resolve();
    let waiting = 0;
    ws.on('message', (data, isBinary) => {
      // Messages are handled one at a time. Pausing the socket does not hold back messages that have already arrived, so they are queued.
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

  async function act(ws: WebSocket, name: string, watching: ScreenSubscription, message: TerminalMessage): Promise<void> {
    try {
      const tmux = await host.tmux();
      if (message.type === 'input') await tmux?.send(name, message.data);
      else await tmux?.resize(name, { columns: message.columns, rows: message.rows });
      watching.nudge();
    } catch (error) {
      app.log.warn('terminal input failed', { session: name, error });
      sendReply(ws, {
        type: 'error',
        code: 'TERMINAL_FAILED',
        message: 'The input did not reach the terminal. The session may have ended. Connect again to see its state.',
      });
    }
  }

  async function showKept(ws: WebSocket, row: InstanceRow): Promise<void> {
    const text = row.session_kind === 'process' ? await logOf(row) : await host.keptScreen(row.session_name);
    if (text) sendReply(ws, { type: 'screen', ...withoutSize(text.slice(-KEPT_LENGTH)) });
    sendReply(ws, { type: 'ended' });
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
      if (!INSTANCE_ID.test(id)) return { refusal: malformedAddress('instance_id', 'expected the id of an instance') };
      const asked = url.searchParams.get('write') ?? '0';
      if (asked !== '0' && asked !== '1') return { refusal: malformedAddress('write', 'expected 1 to type, or nothing to watch') };
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

/** The journal records that a terminal was opened for writing, never the typed text. */
const openedEvent = ({ actor }: Principal, { id }: InstanceRow) =>
  ({ category: 'audit', kind: 'instance.terminal_opened', actor, subject: id, payload: { write: true } }) as const;

const about = (row: InstanceRow, runs: boolean): string | null =>
  !runs ? 'The agent is not running. This is its last screen.' : row.session_kind === 'process' ? readOnly(row) : null;

const readOnly = ({ session_kind }: InstanceRow): string =>
  session_kind === 'process'
    ? 'The agent runs without tmux and has no terminal. This is the end of its log, and it is read-only. To write to the agent, run `covenant instances message ID --text TEXT`.'
    : 'This connection is read-only. To type, connect with ?write=1, or run `covenant instances attach ID --write`.';

const malformedAddress = (field: string, expected: string): HttpRefusal =>
  refusal(400, 'MALFORMED_REQUEST', `${field}: ${expected}.`, 'Connect to /api/instances/ID/terminal, and add ?write=1 to type.', { field });
