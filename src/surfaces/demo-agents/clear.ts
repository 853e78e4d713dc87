import { setTimeout as pause } from 'node:timers/promises';
import type { DemoAnswer } from './stage.ts';

type Act = (name: string, input?: Record<string, unknown>) => Promise<DemoAnswer>;

/** Removes the demo's data. First stops the demo's agents, because they would create new data. Does nothing if no demo was started. */
export async function clearStage(action: Act, keep: boolean): Promise<DemoAnswer> {
  const { state } = await action('demo.show');
  if (state !== 'begun' && state !== 'kept') return { revoked_tokens: 0, removed_rows: 0, kept: false };
  const patient = patiently(action);
  for (const instance of await instancesOf(action)) {
    if (instance.ended_at === null) await patient('instances.stop', { instance_id: instance.id, reason: 'The demo has ended.' });
  }
  if (!keep) {
    for (const instance of await instancesOf(action)) {
      if (instance.kept_reason !== null) await patient('instances.clean', { instance_id: instance.id, force: true });
    }
  }
  return await action('demo.end', { keep });
}

const instancesOf = async (action: Act): Promise<DemoAnswer[]> => ((await action('instances.list', { limit: 200 })) as { items: DemoAnswer[] }).items;

const TRIES = 30;
const PAUSE_MS = 1_000;

/** Retries the action while the server is busy with an instance, for example while it starts or ends a review. */
const patiently =
  (action: Act): Act =>
  async (name, input) => {
    for (let tried = 1; ; tried++) {
      try {
        return await action(name, input);
      } catch (error) {
        if (tried === TRIES || (error as { code?: unknown }).code !== 'BUSY') throw error;
        await pause(PAUSE_MS);
      }
    }
  };
