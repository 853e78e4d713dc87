import { setTimeout as pause } from 'node:timers/promises';
import { Actor } from './actor.ts';
import { hold } from './stories/work.ts';

/** A worker that never finishes: it claims its task, leaves two checkpoints, says so, and waits for its end. */
export async function workUntilKilled(env: NodeJS.ProcessEnv): Promise<never> {
  const task_id = String(env.DEMO_TASK);
  const actor = new Actor('gemini@li', String(env.DEMO_URL), String(env.DEMO_TOKEN));
  const { id } = await actor.call('agent_register', { name: 'gemini@li night shift', runtime: 'gemini', capabilities: ['typescript'] });
  const claim = await hold({ actor, id: String(id) }, task_id);
  await actor.call('checkpoint_add', { task_id, type: 'decision', summary: 'Sessions get a table of their own.', files_changed: ['db/schema.sql'], ...claim });
  await actor.call('checkpoint_add', {
    task_id,
    type: 'progress',
    summary: 'The table is there; moving readers to it.',
    files_changed: ['src/session.ts'],
    ...claim,
  });
  process.stdout.write('at work\n');
  for (;;) await pause(60_000);
}
