import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WAITS } from '../programs.ts';
import { ARROW, type DemoAnswer, type Stage, type Story, text } from '../stage.ts';

/** Uses an external server. One call is denied, one waits for approval, and the server changes the definition of a tool. */
export const gateway: Story = {
  title: 'external tools',
  steps: 2,
  async tell({ cast: { claude, codex, cursor }, action, signal, folder, beat, done }) {
    await action('capabilities.grant', { action: 'tool.call.echo', developer: 'ana', scope: { max_uses: 20 } });
    await action('capabilities.grant', { action: 'tool.call.demo_forecast', developer: 'ana' });
    await action('capabilities.grant', { action: 'tool.call.demo_send_mail', developer: 'ana', scope: { approve: true } });
    for (const what of ['deploy started', 'smoke test passed', 'deploy finished']) await claude.ask('echo', { text: what });
    await claude.ask('clock', {});
    // The external server may still be starting.
    while ((await claude.ask('demo_forecast', { city: 'Oslo' })).code === 'TOOL_NOT_FOUND') await pause(300, undefined, { signal });
    await beat();
    await codex.ask('demo_send_mail', { to: 'customers@example.org', text: 'Free shipping until Friday.' });
    done(`tool call without a grant ${ARROW} denied`);
    await beat();
    // The story does not await this call, because the call returns only when a person decides or the approval expires.
    void cursor.ask('demo_send_mail', { to: 'ana@example.org', text: 'The new cart is on staging. Please test checkout before Thursday.' }).catch(() => {});
    writeFileSync(join(folder, 'changed'), '');
    done(`a call waits for your approval; a tool changed its definition ${ARROW} withheld`);
  },
};

/** Agents that the server starts: one reaches its review limit, another waits for its first review. */
export const review: Story = {
  title: 'review loop',
  steps: 2,
  async tell(stage) {
    const start = async (prompt: string) =>
      text(await stage.action('instances.start', { repository_path: stage.repository, type: 'coding', agent: 'demo', prompt }), 'id');
    const first = await start('Round prices to whole cents in src/checkout.ts. Request a review before you finish.');
    await until(stage, first, ({ reviews }) => Number(reviews) >= 1);
    const second = await start(`${WAITS} show the delivery date in the cart (src/cart.ts). Request one review.`);
    stage.done(`server started two agents ${ARROW} reviews in progress`);
    await until(stage, first, ({ at_limit, failed_reviews, status }) => at_limit === true && status !== 'waiting_review' && Number(failed_reviews) >= 1);
    await until(stage, second, ({ status }) => status === 'waiting_review');
    stage.done(`fourth review refused at the limit of three ${ARROW} waits for your decision`);
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
