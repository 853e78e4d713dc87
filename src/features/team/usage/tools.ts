import { record } from '../../../kernel/call.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { findRow, insertRows } from '../../../storage/rows.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { ingestTelemetry, listPrices, listUsage, setPrice } from './contract.ts';
import { ingest, readingOf } from './ingest.ts';
import { microDollars, priceList, workspaceVersion } from './prices.ts';
import { usageSince } from './store.ts';

const DAY_MS = 86_400_000;

export const telemetryTools: Implementation[] = [
  implement(ingestTelemetry, {
    // The payload is read before the transaction, because reading a large one would block other writers.
    prepare: async (input) => readingOf(input),
    write: ingest,
  }),
  implement(listPrices, {
    read: async (_input, ctx) => ok({ items: [...(await priceList(ctx.reader, ctx.workspace)).items] }),
  }),
  implement(setPrice, {
    write: async (tx, { model, price }, ctx) => {
      const name = model.toLowerCase();
      const before = (await priceList(tx.db, tx.workspace)).items.find((item) => item.model === name) ?? null;
      const newest = await findRow(tx.db, 'model_prices', { workspace_id: tx.workspace }, { version: 'desc' });
      const version = (newest?.version ?? 0) + 1;
      const micros = (dollars: number | undefined) => (dollars === undefined ? null : microDollars(dollars));
      await insertRows(tx.db, 'model_prices', {
        workspace_id: tx.workspace,
        version,
        model: name,
        input: micros(price?.input),
        cached_input: micros(price?.cached_input),
        cache_write: micros(price?.cache_write),
        cache_write_1h: micros(price?.cache_write_1h),
        output: micros(price?.output),
        set_by: ctx.principal.actor,
        set_at: tx.now,
      });
      record(tx, ctx, {
        category: 'audit',
        kind: 'prices.changed',
        subject: `model:${name}`,
        payload: { version: workspaceVersion(version), before, after: price },
      });
      return ok({ model: name, version: workspaceVersion(version) }, price ? `Price of ${name} set.` : `Price of ${name} removed.`);
    },
  }),
  implement(listUsage, {
    read: async ({ days, by, limit = 1_000 }, ctx) => {
      const today = Math.floor(ctx.clock.now() / DAY_MS);
      const { rows, totals, sessions } = await usageSince(
        ctx.reader,
        ctx.workspace,
        (today - days + 1) * DAY_MS,
        await viewerOf(ctx.reader, ctx.principal),
        by,
      );
      return ok({ items: rows.slice(0, limit), totals: { sessions, ...totals }, left_out: Math.max(0, rows.length - limit) });
    },
  }),
];
