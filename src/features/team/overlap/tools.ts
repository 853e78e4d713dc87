import { record, type WriteContext } from '../../../kernel/call.ts';
import { notFound, type Ok, ok, Refusal, refused } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { readJson } from '../../../storage/rows.ts';
import type { OverlapWarningRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper } from '../../core/identity/index.ts';
import { configureOverlap, dismissByHand, dismissWarning, listOverlaps, ownSettings, showOverlap } from './contract.ts';
import { DEFAULT_SETTINGS, figuresOf } from './settings.ts';
import { readState, saveSettings, settingsOf } from './store.ts';
import { findWarning, recentWarnings, resolveWarning, viewOverlaps, warningNamed } from './warnings.ts';

export const overlapTools: Implementation[] = [
  implement(dismissWarning, {
    write: async (tx, { warning_id, reason }, ctx) => {
      const warning = await findWarning(tx.db, tx.workspace, warning_id);
      if (warning?.developer_id !== callingDeveloper(ctx.principal)) {
        throw notFound(
          'WARNING_NOT_FOUND',
          `Warning ${JSON.stringify(warning_id)} does not exist or is not yours.`,
          'Call covibe_team with operation "state" to see your overlap warnings.',
          'warning_id',
        );
      }
      if (warning.resolved_at !== null) {
        const { status } = warning;
        return refused('warning', 'ALREADY_RESOLVED', resolvedAlready(warning), 'Nothing to do.', { warning_id, status });
      }
      return await dismiss(tx, ctx, warning, reason);
    },
  }),
  implement(dismissByHand, {
    write: async (tx, { warning_id, reason }, ctx) => {
      const { developerId, operator } = ctx.principal;
      const warning = await warningNamed(tx.db, tx.workspace, warning_id);
      if (warning.developer_id !== developerId && !operator) {
        throw new Refusal(
          'OPERATOR_REQUIRED',
          'This warning belongs to another developer.',
          `Ask that developer to dismiss it. An operator can run: covenant overlap dismiss ${warning.id} --reason WHY`,
        );
      }
      if (warning.resolved_at !== null) throw new Refusal('ALREADY_RESOLVED', resolvedAlready(warning), 'Nothing to do.');
      return await dismiss(tx, ctx, warning, reason);
    },
  }),
  implement(configureOverlap, {
    write: async (tx, { reset = false, ...changes }, ctx) => {
      const state = await readState(tx.db, tx.workspace);
      const before = settingsOf(state);
      const stored = state?.settings;
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      const isQuestion = !reset && Object.keys(given).length === 0;
      if (!isQuestion) {
        const own = { ...(stored ? readJson(ownSettings, stored) : {}), ...given };
        await saveSettings(tx.db, tx.workspace, reset ? null : JSON.stringify(own));
      }
      const after = settingsOf(await readState(tx.db, tx.workspace));
      if (after.escalate < after.warn) {
        const message = `\`escalate\` (${after.escalate}) is lower than \`warn\` (${after.warn}).`;
        throw new Refusal('INVALID_INPUT', message, `Set both, with escalate at least as high as warn.`, { field: 'escalate' });
      }
      if (!isQuestion) record(tx, ctx, { category: 'audit', kind: 'overlap.configured', payload: { before: figuresOf(before), after: figuresOf(after) } });
      const own = reset ? false : !isQuestion || Boolean(stored);
      return ok({ settings: figuresOf(after), defaults: figuresOf(DEFAULT_SETTINGS), own }, isQuestion ? 'Current settings.' : 'Settings saved.');
    },
  }),
  implement(listOverlaps, {
    read: async ({ limit = 50, ...page }, { reader, workspace, principal }) => {
      const rows = await recentWarnings(reader, workspace, { ...page, limit: limit + 1 });
      const items = await viewOverlaps(reader, workspace, principal, rows.slice(0, limit));
      return ok({ items, more: rows.length > limit, settings: await thresholdsOf(reader, workspace) });
    },
  }),
  implement(showOverlap, {
    read: async ({ warning_id }, { reader, workspace, principal }) => {
      const [overlap] = await viewOverlaps(reader, workspace, principal, [await warningNamed(reader, workspace, warning_id)]);
      return ok({ overlap: overlap as NonNullable<typeof overlap>, settings: await thresholdsOf(reader, workspace) });
    },
  }),
];

async function thresholdsOf(db: Db, workspace: string): Promise<{ warn: number; escalate: number }> {
  const { warn, escalate } = settingsOf(await readState(db, workspace));
  return { warn, escalate };
}

const resolvedAlready = ({ status }: OverlapWarningRow): string => `The warning is already ${status}. Nothing was changed.`;

async function dismiss(tx: Tx, ctx: WriteContext, { id }: OverlapWarningRow, reason: string): Promise<Ok<{ warning_id: string; status: 'dismissed' }>> {
  await resolveWarning(tx, id, { status: 'dismissed', reason });
  record(tx, ctx, { category: 'work', kind: 'warning.dismissed', subject: id, payload: { automatic: false, reason } });
  return ok({ warning_id: id, status: 'dismissed' }, 'Dismissed.');
}
