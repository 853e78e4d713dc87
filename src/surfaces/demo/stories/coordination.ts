import type { Stage, Story } from '../stage.ts';
import { arrow } from './overlap.ts';

/** Code that somebody holds, a question that nobody has answered, and work that changes hands. */
export const coordination: Story = { title: 'a claimed edit', steps: 2, tell };

async function tell(stage: Stage): Promise<void> {
  const [claude, codex, gemini] = await Promise.all(['claude-code@ana', 'codex@mira', 'gemini@li'].map((name) => stage.actor(name)));
  if (!claude || !codex || !gemini) return;
  await claude.call('covibe_coordination', { operation: 'claim', repo: 'shop', paths: ['src/session.ts', 'src/login.ts'], reason: 'Rotating session tokens' });
  await stage.beat();
  const denied = await codex.ask('covibe_coordination', { operation: 'claim', repo: 'shop', paths: ['src/login.ts'], reason: 'Renewing tokens' });
  stage.done(`edit of a claimed file ${arrow} ${denied.status === 'blocked' ? 'denied' : String(denied.status)}`);
  await codex.call('covibe_coordination', { operation: 'claim', repo: 'shop', paths: ['src/cart.ts'], mode: 'shared', reason: 'Prices' });

  await stage.beat();
  const asked = await codex.call('covibe_coordination', {
    operation: 'ask',
    to: 'claude-code@ana',
    message: 'May I rename login() once you are done?',
    repo: 'shop',
  });
  await claude.call('covibe_coordination', { operation: 'reply', ask_id: asked.ask_id, message: 'Yes; I release it within the hour.' });
  await gemini.call('covibe_coordination', {
    operation: 'ask',
    to: 'ana',
    message: 'Which of the two user tables is the true one?',
    due_in_minutes: 5,
    repo: 'shop',
  });
  await gemini.call('covibe_coordination', {
    operation: 'announce',
    message: 'db/schema.sql changes today: pull before you touch it.',
    repo: 'shop',
    paths: ['db/schema.sql'],
  });

  await codex.call('covibe_session', {
    operation: 'publish_context',
    title: 'Rounding of prices',
    summary: 'Done in the cart; checkout still adds fractions.',
    repo: 'shop',
    files_touched: ['src/cart.ts'],
    next_actions: ['Use total() in checkout'],
  });
  await stage.beat();
  const offer = await codex.call('covibe_coordination', {
    operation: 'handoff',
    to: 'claude-code@ana',
    message: 'Please finish the rounding in checkout.',
    repo: 'shop',
  });
  await claude.call('covibe_coordination', { operation: 'accept_handoff', handoff_id: offer.handoff_id });
  stage.done(`an ask that nobody has answered, a hand-off that was taken`);
}
