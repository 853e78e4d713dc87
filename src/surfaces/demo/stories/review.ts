import { setTimeout as pause } from 'node:timers/promises';
import type { DemoAnswer } from '../actor.ts';
import { WAITS } from '../agent.ts';
import type { Stage, Story } from '../stage.ts';
import { text } from '../stage.ts';
import { arrow } from './overlap.ts';

const LOOK_MS = 1_000;

/** Agents that the server starts itself: one uses up its reviews, another waits for its first. */
export const review: Story = { title: 'review loop', steps: 2, tell };

async function tell(stage: Stage): Promise<void> {
  const start = (prompt: string) => stage.action('instances.start', { repository_path: stage.repository, type: 'coding', agent: 'demo', prompt });
  const first = await started(start('Round prices in checkout; have it reviewed.'));
  await until(stage, first, ({ reviews }) => Number(reviews) >= 1);
  const second = await started(start(`${WAITS} say when the delivery comes. Ask for one review.`));
  stage.done(`two agents started by the server ${arrow} reviews under way`);
  await until(stage, first, ({ at_limit, failed_reviews, status }) => at_limit === true && status !== 'waiting_review' && Number(failed_reviews) >= 1);
  await until(stage, second, ({ status }) => status === 'waiting_review');
  stage.done(`three reviews, the fourth is refused ${arrow} waits for a person`);
}

const started = async (answer: Promise<DemoAnswer>): Promise<string> => text((await answer) as DemoAnswer, 'id');

async function until(stage: Stage, instance_id: string, holds: (instance: DemoAnswer) => boolean): Promise<void> {
  for (;;) {
    const { instance } = (await stage.action('instances.show', { instance_id })) as { instance: DemoAnswer };
    if (holds(instance)) return;
    if (instance.ended_at !== null) throw new Error(`${instance_id} ended: ${String(instance.status_reason)}`);
    await pause(LOOK_MS, undefined, { signal: stage.signal });
  }
}
