import { printableLine } from '../../../wire/printable.ts';
import type { AnswerTo, ItemOf } from '../call.ts';
import { columnsOf, fitted, padded } from '../columns.ts';
import { age, type CliOutput, counted, oneLine as inOneLine } from '../output.ts';

type Agent = ItemOf<'agents.list'>;
type Tones = CliOutput['tone'];

/** The width of the terminal, and the current time, from which ages are computed. */
export interface Width {
  readonly columns: number;
  readonly now: number;
}

/** The maximum number of rows in each list of `covenant status`. Other commands show all rows. */
export const MAX_LISTED = 20;
/** The minimum and maximum width of shortened text. Shorter text would be useless, and longer text can be read on the dashboard. */
const MIN_COLUMNS = 16;
const MAX_COLUMNS = 80;

const TONES: Record<Agent['state'], keyof Tones> = {
  waiting: 'you',
  lost: 'bad',
  blocked: 'wait',
  working: 'live',
  quiet: 'quiet',
  stale: 'wait',
  ended: 'quiet',
};

const oneLine = (text: string): string => printableLine(inOneLine(text).trim());
const more = (count: number, command: string): string[] => (count > MAX_LISTED ? [`  and ${count - MAX_LISTED} more: ${command}`] : []);
const room = ({ columns }: Width, taken: number): number => Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, columns - taken));

/** Converts a waiting item to the format that `--json` prints. */
export const waitingCommand = ({ pressing: _, ...item }: ItemOf<'waiting.list'>) =>
  item.kind === 'question' ? { ...item, sentence: `asks: ${item.sentence}` } : item;
export type WaitingCommand = ReturnType<typeof waitingCommand>;

export function waitingLines({ items, cut }: { items: readonly WaitingCommand[]; cut: boolean }, tones: Tones, width: Width): string[] {
  const lines = items.slice(0, MAX_LISTED).map(({ who, sentence, since, command }) => {
    const rest = [...(since === null ? [] : [age(since, width.now)]), oneLine(command)].map((part) => `  ${part}`).join('');
    return `  ${tones.you} ${fitted(oneLine(`${who ?? ''} ${sentence}`), room(width, 4 + columnsOf(rest)))}${rest}`;
  });
  return [`Waiting on you ${items.length}${cut ? ' or more' : ''}`, ...lines, ...more(items.length, 'covenant open')];
}

/** Converts an agent's token that expires soon to the format that `--json` prints. */
export const expiringToken = ({ token_id, developer, label, expires_at }: ItemOf<'tokens.list'>) => ({
  token_id,
  developer,
  label,
  expires_at: expires_at ?? 0,
});
type ExpiringToken = ReturnType<typeof expiringToken>;

/** Tells in how many days a token expires, or in how many hours if less than a day is left. */
export function expiresIn(at: number, now: number): string {
  const hours = Math.max(0, Math.floor((at - now) / 3_600_000));
  return `expires in ${hours < 24 ? counted(hours, 'hour') : counted(Math.floor(hours / 24), 'day')}`;
}

export function expiringLines(tokens: readonly ExpiringToken[], tones: Tones, width: Width): string[] {
  if (tokens.length === 0) return [];
  const lines = tokens.slice(0, MAX_LISTED).map(({ token_id, developer, label, expires_at }) => {
    const rest = `  ${expiresIn(expires_at, width.now)}  covenant tokens rotate ${token_id}`;
    return `  ${tones.wait} ${fitted(oneLine(`${label} of ${developer ?? 'nobody'}`), room(width, 4 + columnsOf(rest)))}${rest}`;
  });
  return [`Tokens that expire soon ${tokens.length}`, ...lines, ...more(tokens.length, 'covenant tokens list')];
}

export function agentLines({ items, total, states }: AnswerTo<'agents.list'>, lost: ReadonlyMap<string, number>, tones: Tones, width: Width): string[] {
  const present = items.filter(({ state }) => state !== 'ended');
  const count = total - (states.ended ?? 0);
  const rows = present
    .slice(0, MAX_LISTED)
    .map((agent) => ({ agent, name: oneLine(agent.name), doing: oneLine(agent.doing?.text ?? '—'), tail: tailOf(agent, lost, width.now) }));
  const name = Math.max(0, ...rows.map((row) => columnsOf(row.name)));
  const tail = Math.max(0, ...rows.map((row) => columnsOf(row.tail)));
  const doing = Math.min(room(width, 4 + name + 2 + STATE + 2 + 2 + tail), Math.max(0, ...rows.map((row) => columnsOf(row.doing))));
  const lines = rows.map(
    (row) =>
      `  ${tones[TONES[row.agent.state]]} ${padded(row.name, name)}  ${row.agent.state.padEnd(STATE)}  ${padded(fitted(row.doing, doing), doing)}  ${row.tail}`,
  );
  return [`Agents ${count}${count === 0 ? '  next: covenant connect claude-code' : ''}`, ...lines, ...more(count, 'covenant agents list')];
}

const STATE = 9;

/** The last part of an agent's line: when the agent was last seen, why it is blocked, or when it lost its claim. */
function tailOf({ state, agent_id, last_seen_at, why_blocked }: Agent, lost: ReadonlyMap<string, number>, now: number): string {
  if (state === 'lost') {
    const at = agent_id === null ? undefined : lost.get(agent_id);
    return [clock(last_seen_at, now), ...(at === undefined ? [] : [`claim released ${clock(at, now)}`])].join(', ');
  }
  const seen = age(last_seen_at, now);
  if (why_blocked === null) return seen;
  const why =
    why_blocked.warning_id === null ? (why_blocked.code ?? why_blocked.outcome) : `overlap ${why_blocked.warning_id.replace(/^([a-z]+_)?.*(.{6})$/, '$1…$2')}`;
  return `${seen}  ${oneLine(why)}`;
}

const clock = (time: number | null, now: number): string => {
  if (time === null) return '—';
  const date = new Date(time);
  if (now - time >= 24 * 3_600_000) return age(time, now);
  return `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
};

/** Returns the time at which the agent last lost a claim. */
export const lostAt = (work: AnswerTo<'agents.show'>['work']): number | undefined => work.find(({ end }) => end === 'lost')?.to ?? undefined;

export function workflowLines({ items, total }: AnswerTo<'workflows.list'>, width: Width): string[] {
  const lines = items.slice(0, MAX_LISTED).map(({ name, by_status: by, status }) => {
    const all = Object.values(by).reduce((sum, count) => sum + count, 0);
    const running = by.planning + by.in_progress;
    const rest = [
      ` ${by.completed + by.skipped}/${all}`,
      ...(status === 'paused' || status === 'failed' ? [status] : []),
      ...(running > 0 ? [`${running} running`] : []),
      ...(by.failed > 0 ? [`${by.failed} failed`] : []),
    ].join(', ');
    return `${fitted(oneLine(name), room(width, 14 + rest.length))}${rest}`;
  });
  if (lines.length === 1) return [`Workflows 1  ${lines[0]}`];
  return [`Workflows ${total}`, ...lines.map((line) => `  ${line}`), ...more(total, 'covenant workflow list')];
}
