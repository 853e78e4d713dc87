import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Db } from '../../../storage/engine.ts';
import type { OverlapItemRow } from '../../../storage/schema-rows.ts';
import type { CheckKind, ItemKind, ItemStatus, OverlapMatch } from './contract.ts';
import { type Finder, type FinderOptions, settingsOf } from './finder.ts';
import { findItems, readState, trustedItem } from './items.ts';
import { type Query, reasonFor, type Scored } from './score.ts';
import type { OverlapSettings } from './settings.ts';
import { analyse, surfaces } from './terms.ts';

export type Action = 'create' | 'modify' | 'remove' | 'fix' | 'audit';

/** Declared actions that cannot be the same work: one brings or keeps what the other takes away. */
const OPPOSED: Readonly<Record<Action, readonly Action[]>> = {
  create: ['remove'],
  modify: ['remove'],
  fix: ['remove'],
  remove: ['create', 'modify', 'fix'],
  // An audit looks and changes nothing, so it may cover the same ground as any of them.
  audit: [],
};

/** An action that was not declared never diverges: the words only add precision where both sides give them. */
export const opposed = (one: Action | null | undefined, other: Action | null | undefined): boolean => (one && other ? OPPOSED[one].includes(other) : false);

/** Names of one layer, as different agents call it. */
const LAYERS: readonly (readonly string[])[] = [
  ['server', 'backend', 'back-end', 'api', 'rest', 'graphql', 'service'],
  ['client', 'frontend', 'front-end', 'ui', 'web', 'webapp', 'view', 'dashboard'],
  ['db', 'database', 'storage', 'schema', 'sql', 'postgres', 'migrations'],
  ['docs', 'documentation', 'doc', 'readme'],
  ['test', 'tests', 'testing', 'qa', 'e2e'],
  ['ci', 'build', 'infra', 'infrastructure', 'deploy', 'deployment', 'devops', 'ops'],
  ['cli', 'command-line', 'terminal'],
  ['mobile', 'ios', 'android', 'app'],
];
const LAYER_OF = new Map(LAYERS.flatMap((names, layer) => names.map((name) => [name, layer] as const)));

const cleaned = (component: string): string =>
  component
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, '-');

/** Two declared components that are not the same: neither one name, nor two names of one layer, nor a part of the other (`server`, `server-auth`). */
export function componentsDiffer(one: string | null | undefined, other: string | null | undefined): boolean {
  const [mine, theirs] = [cleaned(one ?? ''), cleaned(other ?? '')];
  if (mine === '' || theirs === '' || mine === theirs) return false;
  const layer = LAYER_OF.get(mine);
  if (layer !== undefined && layer === LAYER_OF.get(theirs)) return false;
  return !isPartOf(mine, theirs) && !isPartOf(theirs, mine);
}

const isPartOf = (part: string, whole: string): boolean => `-${whole}-`.includes(`-${part}-`);

/** The work that is being checked, in its own words. */
export interface CheckedWork {
  readonly kind: CheckKind;
  readonly developerId: string;
  readonly title: string;
  readonly scope: string | null;
  readonly description: string | null;
  readonly action: Action | null;
  readonly component: string | null;
  readonly taskType: string | null;
  readonly files: readonly string[];
  readonly repo: string | null;
  /** The planned work itself, which is not its own duplicate. */
  readonly plannedId: string | null;
}

const OPEN: ReadonlySet<ItemStatus> = new Set(['planned', 'active', 'blocked']);
export const isOpen = (status: ItemStatus): boolean => OPEN.has(status);

/** Finished work is compared with for so long. */
export const RECENT_MS = 14 * 24 * 3_600_000;

/**
 * Whether the subject is compared with an item at all. A developer's own workstream holds their tasks, so it is no duplicate
 * of one; nor are those tasks duplicates of a workstream that is to hold them.
 */
function isCompared(subject: CheckedWork, id: string, item: { kind: ItemKind; owner_id: string; closed_at: number | null }, now: number): boolean {
  if (id === subject.plannedId) return false;
  if (item.closed_at !== null && item.closed_at < now - RECENT_MS) return false;
  const sameLevel = (item.kind === 'workstream') === (subject.kind === 'workstream');
  return sameLevel || item.owner_id !== subject.developerId;
}

/** The four conditions. Each but the first may only withhold an escalation; the match itself stays on record. */
const isEscalated = (subject: CheckedWork, item: OverlapItemRow, scored: Scored, settings: OverlapSettings): boolean =>
  isOpen(item.status) && isEscalatedPair(subject, item, scored, settings);

/** The same without a look at whether the work is still open, for whoever looks back. */
const isEscalatedPair = (subject: CheckedWork, item: OverlapItemRow, scored: Scored, settings: OverlapSettings): boolean =>
  scored.score >= settings.escalate && scored.textualEvidence && !diverges(subject, item) && !scored.lowInformation;

type Declared = Pick<OverlapItemRow, 'action' | 'component'>;

const diverges = (subject: Declared, item: Declared): boolean => opposed(subject.action, item.action) || componentsDiffer(subject.component, item.component);

/** Whether an item can be escalated at all, as far as that is known before it is scored. */
const mayEscalate = (subject: CheckedWork, item: Declared & { closed_at: number | null }): boolean => item.closed_at === null && !diverges(subject, item);

/** A match as it is stored: its owner is an id. `shownTo` turns it into what a viewer may see. */
function matchOf(subject: CheckedWork, item: OverlapItemRow, scored: Scored, surfaces: ReadonlyMap<string, string>, settings: OverlapSettings): OverlapMatch {
  return {
    id: item.id,
    type: item.kind,
    title: item.title,
    scope: item.scope,
    owner: item.owner_id,
    same_developer: item.owner_id === subject.developerId,
    status: item.status,
    repo: item.repo,
    task_type: item.task_type,
    score: Math.round(scored.score * 100) / 100,
    reason: reasonFor(scored, surfaces),
    level: isEscalated(subject, item, scored, settings) ? 'escalated' : 'warn',
    file_overlap: [...scored.sharedFiles],
    action_divergent: opposed(subject.action, item.action),
    ...(componentsDiffer(subject.component, item.component) ? { component_differs: true } : {}),
  };
}

export const shownTo =
  (name: (developerId: string) => string) =>
  (match: OverlapMatch): OverlapMatch => ({ ...match, owner: name(match.owner) });

export interface Detection {
  /** Best first, every one at or above the warn floor. Owners are ids. */
  readonly matches: readonly OverlapMatch[];
  readonly escalated: readonly OverlapMatch[];
}

/** More than anybody judges; what lies beyond is weaker still. */
const MAX_MATCHES = 50;
/** The floor is low: the best of what only reaches it are told, the rest would be noise. */
const WEAK_MATCHES = 10;

interface OverlapComparison {
  readonly finder: Finder;
  readonly vector: Float32Array | undefined;
  readonly now: number;
}

/** Everything that is like the subject, as far as `db` can see. */
export async function detect(db: Db, workspace: string, subject: CheckedWork, comparison: OverlapComparison): Promise<Detection> {
  const state = await readState(db, workspace);
  if (!state) return { matches: [], escalated: [] };
  const settings = settingsOf(state);
  const query: Query = { analysed: analyse(subject), files: subject.files, vector: comparison.vector };
  const search = async (options: Pick<FinderOptions, 'accept' | 'openOnly'>) =>
    await comparison.finder.search(db, state, query, { settings, limit: MAX_MATCHES, atLeast: settings.warn, ...options });
  const first = await search({ accept: (id, item) => isCompared(subject, id, item, comparison.now) });
  // The limit has cut off what may need a verdict: what is finished, or declared to be something else, must not take its place.
  const isCut = first.length === MAX_MATCHES && first.every(({ score }) => score >= settings.escalate);
  const accept: FinderOptions['accept'] = (id, item) => isCompared(subject, id, item, comparison.now) && mayEscalate(subject, item);
  const scored = isCut ? merged(first, await search({ accept, openOnly: true })) : first;
  const items = await findItems(
    db,
    workspace,
    scored.map(({ id }) => id),
  );
  const words = surfaces([subject.title, subject.scope, subject.description].filter(Boolean).join('\n'));
  const matches = scored.flatMap((found) => {
    const item = items.get(found.id);
    return item ? [matchOf(subject, item, found, words, settings)] : [];
  });
  const escalated = matches.filter(({ level }) => level === 'escalated');
  const weak = matches.filter(({ level }) => level === 'warn').slice(0, WEAK_MATCHES);
  return { matches: matches.filter((match) => escalated.includes(match) || weak.includes(match)), escalated };
}

/** Best first, each once. */
const merged = (one: readonly Scored[], other: readonly Scored[]): Scored[] =>
  [...new Map([...one, ...other].map((scored) => [scored.id, scored])).values()].sort((a, b) => b.score - a.score);

export interface Pair {
  readonly first: Pick<OverlapItemRow, 'id' | 'kind' | 'title' | 'owner_id' | 'status'>;
  readonly second: Pick<OverlapItemRow, 'id' | 'kind' | 'title' | 'owner_id' | 'status'>;
  readonly score: number;
  readonly reason: string;
}

interface Pairs {
  readonly pairs: Pair[];
  readonly compared: number;
  /** Older work that was not looked at. */
  readonly leftOut: number;
}

/** Each is compared with all: beyond this many, the oldest are left out, and that is said. */
const MAX_COMPARED = 2_000;
const MAX_PER_ITEM = 10;
const TURN_MS = 20;
/** Well within the time that a call has: what could not be looked at by then is left out, and that is said too. */
const PATIENCE_MS = 10_000;

export interface Bounds {
  readonly most?: number;
  readonly patienceMs?: number;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

/** Running and recently finished work that looks like the same work: what somebody is at first, then the best. */
export async function likePairs(db: Db, workspace: string, finder: Finder, now: number, bounds: Bounds = {}): Promise<Pairs> {
  const { most = MAX_COMPARED, patienceMs = PATIENCE_MS, signal } = bounds;
  const giveUp = performance.now() + patienceMs;
  await finder.prepare(workspace);
  const state = await readState(db, workspace);
  if (!state) return { pairs: [], compared: 0, leftOut: 0 };
  const settings = settingsOf(state);
  const candidates = db
    .selectFrom('overlap_items')
    .where('workspace_id', '=', workspace)
    .where('status', 'in', ['active', 'blocked', 'completed'])
    .where((eb) => eb.or([eb('closed_at', 'is', null), eb('closed_at', '>=', now - RECENT_MS)]));
  const rows = await candidates.selectAll().orderBy('updated_at', 'desc').orderBy('id', 'desc').limit(most).execute();
  const { all } = await candidates.select((eb) => eb.fn.countAll<number>().as('all')).executeTakeFirstOrThrow();
  const compared = new Map(rows.map((row) => [row.id, row]));
  const pairs: Pair[] = [];
  let done = 0;
  let turned = performance.now();
  for (const row of compared.values()) {
    if (performance.now() > giveUp) break;
    signal?.throwIfAborted();
    // A large workspace takes seconds: other calls must get their turns in between.
    if (performance.now() - turned > TURN_MS) {
      await yieldToEventLoop();
      turned = performance.now();
    }
    done++;
    const subject = subjectOf(row);
    const found = await finder.search(db, state, trustedItem(row), {
      settings,
      limit: MAX_PER_ITEM,
      atLeast: settings.escalate,
      // Each pair once.
      accept: (id, meta) => id < row.id && compared.has(id) && isCompared(subject, id, meta, now),
    });
    for (const scored of found) {
      const other = compared.get(scored.id) as OverlapItemRow;
      if (!isEscalatedPair(subject, other, scored, settings)) continue;
      const reason = reasonFor(scored, surfaces(`${row.title}\n${row.scope ?? ''}`));
      pairs.push({ first: other, second: row, score: Math.round(scored.score * 100) / 100, reason });
    }
  }
  pairs.sort((one, other) => running(other) - running(one) || other.score - one.score || (one.second.id < other.second.id ? 1 : -1));
  return { pairs, compared: done, leftOut: Math.max(0, Number(all) - done) };
}

/** What is over twice can no longer be prevented: it must not crowd out what can. */
const running = ({ first, second }: Pair): number => (isOpen(first.status) || isOpen(second.status) ? 1 : 0);

const subjectOf = (row: OverlapItemRow): CheckedWork => ({
  kind: row.kind === 'workstream' ? 'workstream' : 'task',
  developerId: row.owner_id,
  title: row.title,
  scope: row.scope,
  description: null,
  action: row.action,
  component: row.component,
  taskType: row.task_type,
  files: [],
  repo: row.repo,
  plannedId: row.id,
});
