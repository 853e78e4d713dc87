import type { Answer } from './actor.ts';

type Act = (name: string, input?: Record<string, unknown>) => Promise<Answer>;

/** Agents first, then what they made: a program that still runs would go on making. */
export async function clearStage(action: Act, keep: boolean): Promise<Answer> {
  for (const instance of await instancesOf(action)) {
    if (instance.ended_at === null) await action('instances.stop', { instance_id: instance.id, reason: 'The demo is over.' });
  }
  if (!keep) {
    for (const instance of await instancesOf(action)) {
      if (instance.kept_reason !== null) await action('instances.clean', { instance_id: instance.id, force: true });
    }
  }
  return await action('demo.end', { keep });
}

const instancesOf = async (action: Act): Promise<Answer[]> => ((await action('instances.list', { limit: 200 })) as { items: Answer[] }).items;
