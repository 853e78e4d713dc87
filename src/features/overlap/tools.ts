import { record } from '../../kernel/context.ts';
import { Refusal } from '../../kernel/errors.ts';
import { ok, refused } from '../../kernel/reply.ts';
import { type Implementation, implement } from '../../kernel/tool.ts';
import { readJson } from '../../storage/columns.ts';
import type { Db } from '../../storage/engine.ts';
import { callingDeveloper, namesFor } from '../identity/index.ts';
import { shownTo } from './candidates.ts';
import { findWarning, readMatches, resolveWarning } from './checks.ts';
import { configureOverlap, dismissWarning, listOverlaps, ownSettings, scopeVerdict } from './contract.ts';
import { figuresOf, settingsOf } from './own-settings.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { readState, saveSettings } from './store.ts';
import type { OverlapWarningRow } from './tables.ts';

export const overlapTools: Implementation[] = [
  implement(dismissWarning, {
    write: async (tx, { warning_id, reason }, ctx) => {
      const warning = await findWarning(tx.db, tx.workspace, warning_id);
      if (warning?.developer_id !== callingDeveloper(ctx.principal)) {
        throw new Refusal('WARNING_NOT_FOUND', `You have no warning ${JSON.stringify(warning_id)}.`, 'covibe_team state lists your overlap warnings.', {
          field: 'warning_id',
        });
      }
      if (warning.resolved_at !== null) {
        return refused('warning', 'ALREADY_RESOLVED', `The warning is ${warning.status} already; nothing was changed.`, 'Nothing to do.', {
          warning_id,
          status: warning.status,
        });
      }
      await resolveWarning(tx, warning_id, { status: 'dismissed', reason });
      record(tx, ctx, { category: 'work', kind: 'warning.dismissed', subject: warning_id, payload: { automatic: false, reason } });
      return ok({ warning_id, status: 'dismissed' as const }, 'Dismissed.');
    },
  }),
  implement(configureOverlap, {
    write: async (tx, { reset = false, ...wanted }, ctx) => {
      const before = await settingsOf(tx.db, tx.workspace);
      const kept = (await readState(tx.db, tx.workspace))?.settings;
      const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
      const isQuestion = !reset && Object.keys(given).length === 0;
      if (!isQuestion) {
        const own = { ...(kept ? readJson(ownSettings, kept) : {}), ...given };
        await saveSettings(tx.db, tx.workspace, reset ? null : JSON.stringify(own));
      }
      const after = await settingsOf(tx.db, tx.workspace);
      if (after.escalate < after.warn) {
        throw new Refusal('INVALID_INPUT', `escalate: ${after.escalate} is below the warn floor ${after.warn}.`, 'Set both.', { field: 'escalate' });
      }
      if (!isQuestion) record(tx, ctx, { category: 'audit', kind: 'overlap.configured', payload: { before: figuresOf(before), after: figuresOf(after) } });
      const own = reset ? false : !isQuestion || Boolean(kept);
      return ok({ settings: figuresOf(after), defaults: figuresOf(DEFAULT_SETTINGS), own }, isQuestion ? 'As set.' : 'Set.');
    },
  }),
  implement(listOverlaps, {
    read: async ({ open = false, limit = 50 }, { reader, workspace, principal }) => {
      const name = await namesFor(reader, workspace, principal);
      const warnings = await recentWarnings(reader, workspace, { open, limit });
      const verdicts = await verdictsOf(reader, workspace, warnings);
      const items = warnings.map((row) => ({ ...warningView(row, name), ...(verdicts.get(row.id) ?? { verdict: null, judgements: [] }) }));
      const { warn, escalate } = await settingsOf(reader, workspace);
      return ok({ items, settings: { warn, escalate } });
    },
  }),
];

/** A stored warning as a viewer may see it. */
export const warningView = (row: OverlapWarningRow, name: (developerId: string) => string) => ({
  warning_id: row.id,
  kind: row.kind,
  title: row.title,
  developer: name(row.developer_id),
  subject_id: row.subject_id,
  level: row.level,
  status: row.status,
  reason: row.reason,
  matches: readMatches(row).map(shownTo(name)),
  created_at: row.created_at,
  resolved_at: row.resolved_at,
});

export async function recentWarnings(db: Db, workspace: string, { open, limit }: { open: boolean; limit: number }): Promise<OverlapWarningRow[]> {
  let query = db.selectFrom('overlap_warnings').selectAll().where('workspace_id', '=', workspace);
  if (open) query = query.where('resolved_at', 'is', null);
  return await query.orderBy('id', 'desc').limit(limit).execute();
}

async function verdictsOf(db: Db, workspace: string, warnings: readonly OverlapWarningRow[]) {
  if (warnings.length === 0) return new Map<string, never>();
  const rows = await db
    .selectFrom('scope_verdicts')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where(
      'warning_id',
      'in',
      warnings.map(({ id }) => id),
    )
    .execute();
  return new Map(
    rows.map((row) => [String(row.warning_id), { verdict: row.verdict, judgements: readJson(scopeVerdict.shape.candidates, row.candidates) }] as const),
  );
}
