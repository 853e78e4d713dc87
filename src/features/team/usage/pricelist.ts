import type { Db } from '../../../storage/engine.ts';
import type { ModelPriceRow } from '../../../storage/schema-rows.ts';
import type { PriceView } from './contract.ts';
import { bestPattern } from './match.ts';
import { BUILTIN_PRICES, BUILTIN_VERSION, type ModelPrice } from './prices.ts';
import { currentPrices } from './store.ts';

export interface PriceList {
  /** Every price that holds, the workspace's own first. */
  readonly items: readonly PriceView[];
  priceOf(model: string | null): { price: ModelPrice; version: string } | undefined;
}

export const workspaceVersion = (version: number): string => `workspace-${version}`;

/** The prices that hold in a workspace now: its own, whatever they name, before the built-in ones. */
export async function priceList(db: Db, workspace: string): Promise<PriceList> {
  const own = new Map<string, PriceView>();
  for (const row of await currentPrices(db, workspace)) {
    const view = viewOf(row);
    if (view) own.set(row.model, view);
  }
  const builtin = new Map(
    [...BUILTIN_PRICES].map(([model, price]): [string, PriceView] => [model, { model, ...price, version: BUILTIN_VERSION, set_at: null }]),
  );
  return {
    items: [...own.values(), ...[...builtin.values()].filter(({ model }) => !own.has(model))],
    priceOf(model) {
      if (model === null) return undefined;
      for (const list of [own, builtin]) {
        const found = list.get(bestPattern(list.keys(), model) ?? '');
        if (found) return { price: found, version: found.version };
      }
      return undefined;
    },
  };
}

/** A row without figures took back what was set before it. */
function viewOf(row: ModelPriceRow): PriceView | undefined {
  if (row.input === null || row.output === null) return undefined;
  const dollars = (micros: number | null) => (micros === null ? null : micros / 1e6);
  return {
    model: row.model,
    input: row.input / 1e6,
    cached_input: dollars(row.cached_input),
    cache_write: dollars(row.cache_write),
    cache_write_1h: dollars(row.cache_write_1h),
    output: row.output / 1e6,
    prompt_up_to: null,
    version: workspaceVersion(row.version),
    set_at: row.set_at,
  };
}
