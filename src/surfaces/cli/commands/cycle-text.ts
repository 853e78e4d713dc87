import type { AnswerTo, ItemOf } from '../call.ts';
import { age, counted, indented, list, oneLine, type TableShape, table } from '../output.ts';

export type CycleAnswer = AnswerTo<'cycles.show'>;
export type CurrentCycle = NonNullable<CycleAnswer['cycle']>;
export type ShownHandoff = CycleAnswer['handoffs'][number];
type Session = ItemOf<'cycles.sessions'>;
/** Returns the readable name of a journal actor. */
export type ActorName = (actor: string) => string;

const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+/, '');
const ago = (then: number, now: number): string => (now - then < 86_400_000 ? `${age(then, now)} ago` : time(then));

/** `agent:codex@dev_1` becomes "codex of ana". Private and unknown developers both become @private. */
export const actorNamer =
  (names: ReadonlyMap<string, string>): ActorName =>
  (actor) => {
    const [, kind, agent, id = ''] = /^(developer|agent):(?:(.+)@)?(.+)$/.exec(actor) ?? [];
    if (kind === undefined) return actor === 'operator' ? 'the operator' : actor;
    const name = names.get(id) ?? '@private';
    return agent === undefined ? name : `${agent} of ${name}`;
  };

/** The tools that the active role can call in this phase. */
export function nextTools({ machine }: Pick<CycleAnswer, 'machine'>, { phase }: Pick<CurrentCycle, 'phase'>): string[] {
  if (phase === machine.final) return ['cycle.archive'];
  return machine.transitions
    .filter(({ from }) => from === phase)
    .map(({ target, to }) => (target === undefined ? `cycle.complete (→ ${to})` : `handoff.write to ${target} (→ ${to})`));
}

export function statusLines(shown: CycleAnswer, cycle: CurrentCycle, who: ActorName, now: number): string {
  const { machine, sessions } = shown;
  const open = sessions.filter(({ status }) => status === 'open');
  const hasSession = open.some(({ role }) => role === cycle.active_role);
  const first = `${hasSession ? '' : 'session.open, '}lock.acquire, then `;
  const width = Math.max(...machine.roles.map((role) => role.length));
  return [
    `${cycle.feature}  (${cycle.cycle_id})`,
    `in ${cycle.repository}, mode ${cycle.mode}, started ${ago(cycle.created_at, now)} by ${who(cycle.started_by)}`,
    '',
    `Phase    ${cycle.phase}  (${machine.phases.map(({ name }) => name).join(' → ')})`,
    `Turn     ${cycle.active_role}, has held the lock since ${time(cycle.lock_acquired_at)} (${ago(cycle.lock_acquired_at, now)})`,
    `Reworks  ${cycle.reworks}`,
    `To do    ${cycle.active_role}: ${first}${nextTools(shown, cycle).join(', or ')}`,
    '',
    'Handoffs',
    ...machine.roles.map((role) => `  for ${role.padEnd(width)}  ${handoffSummary(latestFor(shown.handoffs, role), now)}`),
    '',
    'Open sessions',
    ...(open.length === 0 ? ['  none: each role calls session.open with its PSK'] : []),
    ...open.map(
      (s) => `  ${s.role.padEnd(width)}  ${s.session_id}  opened by ${who(s.actor)}, last seen ${ago(s.last_seen, now)}, expires ${time(s.expires_at)}`,
    ),
  ].join('\n');
}

/** Returns the newest handoff to this role. The server lists handoffs in the order in which they were written. */
export const latestFor = (handoffs: readonly ShownHandoff[], target: string): ShownHandoff | undefined =>
  handoffs.findLast((handoff) => handoff.target === target);

function handoffSummary(handoff: ShownHandoff | undefined, now: number): string {
  if (!handoff) return 'empty';
  const lengths = (['files_modified', 'endpoints', 'todos'] as const).map((field) => listOf(handoff, field).length);
  const counts = ['file', 'endpoint', 'todo'].map((noun, index) => counted(lengths[index] ?? 0, noun));
  return `present, from ${handoff.producer}, ${ago(handoff.created_at, now)}: ${counts.join(', ')}`;
}

const listOf = ({ payload }: ShownHandoff, field: string): unknown[] => (Array.isArray(payload[field]) ? payload[field] : []);

const KNOWN = ['cycle_id', 'feature', 'producer', 'consumer'];
const TITLES: Readonly<Record<string, string>> = { files_modified: 'Files modified', data_shapes: 'Data shapes' };

/** Shows the whole handoff, because the next role needs all of it. */
export function handoffLines(handoff: ShownHandoff, now: number): string {
  const sections = Object.entries(handoff.payload)
    .filter(([field]) => !KNOWN.includes(field))
    .map(([field, value]) => {
      const title = TITLES[field] ?? `${field.slice(0, 1).toUpperCase()}${field.slice(1)}`;
      const lines = Array.isArray(value) ? value.map((item) => `- ${indented(valueText(field, item)).trimStart()}`) : [valueText(field, value)];
      return [title, ...(lines.length === 0 ? ['none'] : lines).map(indented)].join('\n');
    });
  return [`Handoff ${handoff.number}, from ${handoff.producer} to ${handoff.target}, ${ago(handoff.created_at, now)}`, ...sections].join('\n\n');
}

function valueText(field: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (field !== 'endpoints') return JSON.stringify(value, null, 2);
  const { method, path, ...more } = value as Record<string, unknown>;
  return `${method} ${path}${Object.keys(more).length > 0 ? `  ${JSON.stringify(more)}` : ''}`;
}

export function historyTable({ items, total }: AnswerTo<'cycles.list'>, all: boolean, none: string, now: number, columns?: number): string {
  const rows = items.map((cycle) => [
    cycle.cycle_id,
    cycle.status,
    cycle.phase,
    String(cycle.reworks),
    ago(cycle.created_at, now),
    cycle.ended_at === null ? '—' : ago(cycle.ended_at, now),
    ...(all ? [cycle.repository] : []),
    `${cycle.feature}${cycle.reason === null ? '' : `: ${oneLine(cycle.reason)}`}`,
  ]);
  const head = ['CYCLE', 'STATUS', 'PHASE', 'REWORKS', 'STARTED', 'ENDED', ...(all ? ['REPOSITORY'] : []), 'FEATURE'];
  const narrow = [
    ['ENDED', 0],
    ['REWORKS', 0],
    ['FEATURE', 16],
    ['REPOSITORY', 16],
    ['STARTED', 0],
    ['REPOSITORY', 0],
  ] as const;
  return list({ head, narrow }, rows, { none, total, columns });
}

export function sessionTable(items: readonly Session[], all: boolean, who: ActorName, now: number, columns?: number): string {
  const rows = items.map((s) => [
    s.session_id,
    s.role,
    s.status,
    ago(s.last_seen, now),
    time(s.expires_at),
    ...(all ? [s.repository] : []),
    `${who(s.actor)}${s.closed_by === null ? '' : `, closed by ${who(s.closed_by)}`}`,
  ]);
  const head = ['SESSION', 'ROLE', 'STATUS', 'SEEN', 'EXPIRES', ...(all ? ['REPOSITORY'] : []), 'OPENED BY'];
  return table({ head, narrow: SESSIONS }, rows, columns);
}

const SESSIONS: TableShape['narrow'] = [
  ['EXPIRES', 10],
  ['OPENED BY', 12],
  ['REPOSITORY', 12],
  ['EXPIRES', 0],
  ['REPOSITORY', 0],
];

interface CycleEvent {
  readonly kind: string;
  readonly actor: string;
  readonly time: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Describes an event on one line: the time, the actor, what happened, and the phase after the event. */
export function eventLine(event: CycleEvent, who: ActorName): string {
  const { phase, active_role, from_phase } = event.payload;
  const moved = phase === undefined || ['cycle.archived', 'cycle.cancelled'].includes(event.kind);
  const way = from_phase === undefined ? `→ ${phase}` : `${from_phase} → ${phase}`;
  return oneLine([time(event.time), `${who(event.actor)}:`, whatHappened(event), moved ? '' : `(${way}, turn of ${active_role})`].filter(Boolean).join(' '));
}

function whatHappened({ kind, payload }: CycleEvent): string {
  switch (kind) {
    case 'cycle.started':
      return `started ${payload.feature} as ${payload.cycle_id}`;
    case 'cycle.handed_over':
      return `${payload.producer} handed over to ${payload.target}`;
    case 'cycle.completed':
      return 'completed the cycle';
    case 'cycle.archived':
      return 'archived the cycle';
    case 'cycle.cancelled':
      return `cancelled the cycle: ${payload.reason}`;
    case 'cycle.session_opened':
      return `opened a session of ${payload.role}`;
    case 'cycle.session_closed':
      return `closed a session of ${payload.role}`;
    case 'cycle.psk_refused':
      return `was refused a session of ${payload.role}: wrong PSK (${payload.failures} so far)`;
    default:
      return kind;
  }
}
