import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WAITS } from '../programs.ts';
import { ARROW, type DemoAnswer, type Stage, type Story, text } from '../stage.ts';

/** Tools of another server: one call is denied, one waits for a person, and one tool is not what it was. */
export const gateway: Story = {
  title: 'tools of another server',
  steps: 2,
  async tell({ cast: { claude, codex, cursor }, action, signal, folder, beat, done }) {
    await action('capabilities.grant', { action: 'tool.call.echo', developer: 'ana', scope: { max_uses: 20 } });
    await action('capabilities.grant', { action: 'tool.call.demo_forecast', developer: 'ana' });
    await action('capabilities.grant', { action: 'tool.call.demo_send_mail', developer: 'ana', scope: { approve: true } });
    for (const what of ['ready', 'set', 'go']) await claude.ask('echo', { text: what });
    await claude.ask('clock', {});
    // The server of the tools may still be starting.
    while ((await claude.ask('demo_forecast', { city: 'Oslo' })).code === 'TOOL_NOT_FOUND') await pause(300, undefined, { signal });
    await beat();
    await codex.ask('demo_send_mail', { to: 'all@example.org', text: 'Free shipping!' });
    done(`a tool without a grant ${ARROW} denied`);
    await beat();
    // Nobody answers it: it waits until somebody looks, or its time is up.
    void cursor.ask('demo_send_mail', { to: 'ana@example.org', text: 'The cart is ready to look at.' }).catch(() => {});
    writeFileSync(join(folder, 'changed'), '');
    done(`a call waits for your approval; a tool changed its words ${ARROW} withheld`);
  },
};

/** Agents that the server starts itself: one uses up its reviews, another waits for its first. */
export const review: Story = {
  title: 'review loop',
  steps: 2,
  async tell(stage) {
    const start = async (prompt: string) =>
      text(await stage.action('instances.start', { repository_path: stage.repository, type: 'coding', agent: 'demo', prompt }), 'id');
    const first = await start('Round prices in checkout; have it reviewed.');
    await until(stage, first, ({ reviews }) => Number(reviews) >= 1);
    const second = await start(`${WAITS} say when the delivery comes. Ask for one review.`);
    stage.done(`two agents started by the server ${ARROW} reviews under way`);
    await until(stage, first, ({ at_limit, failed_reviews, status }) => at_limit === true && status !== 'waiting_review' && Number(failed_reviews) >= 1);
    await until(stage, second, ({ status }) => status === 'waiting_review');
    stage.done(`three reviews, the fourth is refused ${ARROW} waits for a person`);
  },
};

async function until(stage: Stage, instance_id: string, holds: (instance: DemoAnswer) => boolean): Promise<void> {
  for (;;) {
    const { instance } = (await stage.action('instances.show', { instance_id })) as { instance: DemoAnswer };
    if (holds(instance)) return;
    if (instance.ended_at !== null) throw new Error(`${instance_id} ended: ${String(instance.status_reason)}`);
    await pause(1_000, undefined, { signal: stage.signal });
  }
}
