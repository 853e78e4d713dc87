import { ownerOf } from '../../../kernel/actor.ts';
import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import { toEvent } from '../../../storage/journal.ts';
import { findRows, matching } from '../../../storage/rows.ts';
import { type DayTally, DENIED_EDIT, type TalliedRefusal } from '../../core/events/index.ts';
import { eventRedactor } from '../../core/identity/index.ts';
import type { RecentRefusal } from './contract.ts';

/**
 * Returns refusals with the message that the caller got, newest first. The message of a block is in the feedback event that
 * follows the usage event.
 */
export async function readRefusals(db: Db, viewer: Principal, actor: string, counted: readonly TalliedRefusal[]): Promise<RecentRefusal[]> {
  if (counted.length === 0) return [];
  const events = await findRows(db, 'events', { workspace_id: viewer.workspace, seq: counted.flatMap(({ seq }) => [seq, seq + 1]) });
  const redact = await eventRedactor(db, viewer.workspace, viewer);
  const shown = new Map((await redact(events.map(toEvent))).map((event) => [event.seq, event]));
  const warnings = counted.some(({ code }) => OVERLAP.test(code ?? '')) ? await warningsOf(db, viewer.workspace, ownerOf(actor)) : [];
  return [...counted].reverse().map(({ seq, time, kind, outcome, code }) => {
    const usage = shown.get(seq)?.payload;
    const next = shown.get(seq + 1);
    const feedback = next?.category === 'feedback' && next.payload.request_id === usage?.request_id ? next.payload : undefined;
    const told = (usage?.told ?? feedback ?? {}) as { message?: string; required_action?: string };
    const warning = OVERLAP.test(code ?? '') ? warnings.find(({ created_at }) => created_at <= time) : undefined;
    return {
      seq,
      time,
      asked: kind,
      outcome,
      code,
      message: told.message ?? null,
      required_action: told.required_action ?? null,
      warning_id: warning?.id ?? null,
      edit: kind === DENIED_EDIT && usage ? editIn(usage) : null,
    };
  });
}

export async function lastRefusal(db: Db, viewer: Principal, actor: string, day: DayTally): Promise<RecentRefusal | null> {
  const last = day.actors.get(actor)?.refusals.find(isLastAnswer(day, actor));
  return last ? ((await readRefusals(db, viewer, actor, [last]))[0] ?? null) : null;
}

/**
 * Returns a function that checks whether a refusal was the answer to the agent's last call. Denied edits after that call do not
 * count, because they block no call.
 */
export function isLastAnswer(day: DayTally, actor: string): (refusal: { seq: number }) => boolean {
  const last = day.actors.get(actor)?.lastCall;
  return ({ seq }) => seq === last?.seq;
}

function editIn({ path, claim_id, client, tool }: Readonly<Record<string, unknown>>): RecentRefusal['edit'] {
  if (typeof path !== 'string' || typeof claim_id !== 'string' || typeof client !== 'string') return null;
  return { path, claim_id, client, tool: typeof tool === 'string' ? tool : null };
}

/** Matches the codes of refusals that were caused by an overlap. */
const OVERLAP = /^(?:VERDICT|OVERLAP|DUPLICATE)_/;

const WARNINGS_LOOKED_AT = 100;

/** Returns the overlaps that the checks of a developer found, newest first. */
async function warningsOf(db: Db, workspace: string, developerId: string | null): Promise<{ id: string; created_at: number }[]> {
  if (developerId === null) return [];
  const found = matching(db, 'overlap_warnings', { workspace_id: workspace, developer_id: developerId }).select(['id', 'created_at']);
  return await found.orderBy('id', 'desc').limit(WARNINGS_LOOKED_AT).execute();
}
