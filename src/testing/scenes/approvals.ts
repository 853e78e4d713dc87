import { expect } from 'vitest';
import type { CallAnswer } from '../../kernel/call.ts';
import type { Exchange, Json } from '../../kernel/relay.ts';
import type { TestApp } from '../app.ts';
import { type RelayAppOptions, relayApp } from '../stand-ins/relay.ts';
import { until } from '../until.ts';

export const DEADLINE_MS = 600_000;

type Item = Record<string, unknown> & { approval_id: string };

export const listed = async (t: Pick<TestApp, 'done'>, status?: string) => (await t.done('approvals.list', status ? { status } : {})).items as Item[];

/** Waits until `count` calls are waiting for a decision, and returns the last one in the list. */
export async function waiting(t: Pick<TestApp, 'done'>, count = 1): Promise<Item> {
  return await until(async () => {
    const items = await listed(t);
    expect(items).toHaveLength(count);
    return items.at(-1) as Item;
  });
}

export const kinds = async (t: Pick<TestApp, 'events'>) =>
  (await t.events({ category: 'audit' })).map(({ kind }) => kind).filter((kind) => kind.startsWith('approval.'));

export type HeldApp = Awaited<ReturnType<typeof held>>;

/** Sets up a scene in which Ana may call `far_write`, but each call needs an approval. */
export async function held({ approve = true, ...options }: RelayAppOptions & { approve?: true | 'client' } = {}) {
  const made: Json[] = [];
  const exchanges: (Exchange | undefined)[] = [];
  const app = await relayApp(
    {
      far_write: async (args, ctx) => {
        made.push(args);
        exchanges.push(ctx.exchange);
        return { content: [{ type: 'text', text: 'written' }] };
      },
    },
    options,
  );
  const grant = (caller = app.ana) => app.done('capabilities.grant', { action: 'tool.call.far_write', token: caller.tokenId, scope: { approve } });
  const { grant_id } = await grant();
  return {
    ...app,
    made,
    exchanges,
    grant,
    grantId: grant_id as string,
    write: (args: unknown = { path: 'a' }, more = {}) => app.call('far_write', args, more),
  };
}

export const wentThrough = (answer: CallAnswer) => expect(answer).toMatchObject({ isError: false, relayed: { result: { content: [{ text: 'written' }] } } });

/**
 * Adds progress notifications to a client. `waits` resolves when the client's call is really waiting for a decision. The row of the approval alone would not
 * prove that.
 */
export function listening(t: Pick<TestApp, 'clock'>, client: Exchange = { capabilities: {}, meta: {} }) {
  const told: Json[] = [];
  const exchange: Exchange = { ...client, progress: (params) => told.push(params) };
  const waits = () =>
    until(() => {
      if (told.length === 0) t.clock.advance(10_000);
      expect(told).not.toEqual([]);
    });
  return { told, exchange, waits };
}
