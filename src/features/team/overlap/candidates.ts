import type { OverlapItemRow } from '../../../storage/schema-rows.ts';
import type { CheckKind, ItemKind, ItemStatus, Match } from './contract.ts';
import { type Action, componentsDiffer, opposed } from './divergence.ts';
import { reasonFor } from './explain.ts';
import type { Scored } from './score.ts';
import type { OverlapSettings } from './settings.ts';

/** The work that is being checked, in its own words. */
export interface Subject {
  readonly kind: CheckKind;
  readonly developerId: string;
  readonly title: string;
  readonly scope: string | null;
  readonly description: string | null;
  readonly action: Action | null;
  readonly component: string | null;
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
export function isCompared(subject: Subject, id: string, item: { kind: ItemKind; owner_id: string; closed_at: number | null }, now: number): boolean {
  if (id === subject.plannedId) return false;
  if (item.closed_at !== null && item.closed_at < now - RECENT_MS) return false;
  const sameLevel = (item.kind === 'workstream') === (subject.kind === 'workstream');
  return sameLevel || item.owner_id !== subject.developerId;
}

/** The four conditions. Each but the first may only withhold an escalation; the match itself stays on record. */
export const isEscalated = (subject: Subject, item: OverlapItemRow, scored: Scored, settings: OverlapSettings): boolean =>
  isOpen(item.status) && isEscalatedPair(subject, item, scored, settings);

/** The same without a look at whether the work is still open, for whoever looks back. */
export const isEscalatedPair = (subject: Subject, item: OverlapItemRow, scored: Scored, settings: OverlapSettings): boolean =>
  scored.score >= settings.escalate && scored.textualEvidence && !diverges(subject, item) && !scored.lowInformation;

type Declared = Pick<OverlapItemRow, 'action' | 'component'>;

const diverges = (subject: Declared, item: Declared): boolean => opposed(subject.action, item.action) || componentsDiffer(subject.component, item.component);

/** Whether an item can be escalated at all, as far as that is known before it is scored. */
export const mayEscalate = (subject: Subject, item: Declared & { closed_at: number | null }): boolean => item.closed_at === null && !diverges(subject, item);

/** A match as it is stored: its owner is an id. `shownTo` turns it into what a viewer may see. */
export function matchOf(subject: Subject, item: OverlapItemRow, scored: Scored, surfaces: ReadonlyMap<string, string>, settings: OverlapSettings): Match {
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
  (match: Match): Match => ({ ...match, owner: name(match.owner) });
