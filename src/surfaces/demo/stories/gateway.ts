import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Stage, Story } from '../stage.ts';
import { arrow } from './overlap.ts';

const LOOK_MS = 300;

/** Tools of another server: one call is denied, one waits for a person, and one tool is not what it was. */
export const gateway: Story = { title: 'tools of another server', steps: 2, tell };

async function tell(stage: Stage): Promise<void> {
  const [claude, cursor] = await Promise.all(['claude-code@ana', 'cursor@ana'].map((name) => stage.actor(name)));
  if (!claude || !cursor) return;
  await stage.action('capabilities.grant', { action: 'tool.call.echo', developer: 'ana', scope: { max_uses: 20 } });
  await stage.action('capabilities.grant', { action: 'tool.call.demo_forecast', developer: 'ana' });
  await stage.action('capabilities.grant', { action: 'tool.call.demo_send_mail', developer: 'ana', scope: { approve: true } });
  for (const what of ['ready', 'set', 'go']) await claude.ask('echo', { text: what });
  await claude.ask('clock', {});
  // The server of the tools may still be starting.
  while ((await claude.ask('demo_forecast', { city: 'Oslo' })).code === 'TOOL_NOT_FOUND') await pause(LOOK_MS, undefined, { signal: stage.signal });
  await stage.beat();
  const mira = await stage.actor('codex@mira');
  await mira.ask('demo_send_mail', { to: 'all@example.org', text: 'Free shipping!' });
  stage.done(`a tool without a grant ${arrow} denied`);
  await stage.beat();
  // Nobody answers it: it waits until somebody looks, or its time is up.
  void cursor.ask('demo_send_mail', { to: 'ana@example.org', text: 'The cart is ready to look at.' }).catch(() => {});
  writeFileSync(join(stage.folder, 'changed'), '');
  stage.done(`a call waits for your approval; a tool changed its words ${arrow} withheld`);
}
