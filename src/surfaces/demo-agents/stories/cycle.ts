import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Actor, ARROW, type Stage, type Story } from '../stage.ts';

/** Two roles take turns on a feature. The feature goes back once for rework, and the story ends in the phase before the last. */
export const cycle: Story = { title: 'cycle with rework', steps: 1, tell };

const FEATURE = 'checkout';

async function tell(stage: Stage): Promise<void> {
  const { gemini, codex } = stage.cast;
  const psks = { gemini: randomBytes(18).toString('base64url'), codex: randomBytes(18).toString('base64url') };
  configure(stage.repository, psks);
  const at = { repository_path: stage.repository };
  const roles = {
    gemini: { actor: gemini, ...(await gemini.call('session.open', { role: 'gemini', psk: psks.gemini, ...at })) },
    codex: { actor: codex, ...(await codex.call('session.open', { role: 'codex', psk: psks.codex, ...at })) },
  } as unknown as Record<'gemini' | 'codex', { actor: Actor; session_token: string }>;
  const { cycle_id } = await gemini.call('cycle.start', { feature: FEATURE, ...at });
  const hand = async (from: 'gemini' | 'codex', said: object) => {
    const to = from === 'gemini' ? 'codex' : 'gemini';
    const { actor, session_token } = roles[from];
    const { lock_token } = await actor.call('lock.acquire', { session_token, ...at });
    const about = { cycle_id, feature: FEATURE, producer: from, consumer: to, data_shapes: [{ name: 'Order', fields: ['id', 'due'] }] };
    const payload = { ...about, files_modified: [], assumptions: [], todos: [], notes: [], endpoints: [], ...said };
    await actor.call('handoff.write', { target: to, payload, lock_token, session_token, ...at });
  };
  const endpoints = [{ method: 'POST', path: '/orders' }];
  await hand('gemini', {
    files_modified: ['web/checkout.tsx'],
    assumptions: ['All prices are integers in cents', 'The cart has at most 100 lines'],
    todos: ['Implement POST /orders', 'Return 422 for an empty cart'],
    endpoints,
  });
  await stage.beat();
  // This call is refused, because it is not this role's turn.
  await gemini.ask('handoff.write', { target: 'codex', payload: {}, lock_token: 'none', session_token: roles.gemini.session_token, ...at });
  await hand('codex', { files_modified: ['src/orders.ts'], notes: ['POST /orders returns 201 with the order id'], endpoints });
  await stage.beat();
  await hand('gemini', { todos: ['Return 422 for an empty cart'], notes: ['The form shows a generic error for an empty cart'] });
  await hand('codex', { files_modified: ['src/orders.ts', 'test/orders.test.ts'], notes: ['An empty cart returns 422 with the field name'], endpoints });
  stage.done(`cycle with rework ${ARROW} gemini's turn in frontend_refine`);
}

function configure(repository: string, psks: Record<string, string>): void {
  const agents = Object.fromEntries(Object.entries(psks).map(([role, psk]) => [role, { psk }]));
  const config = { version: '0.1', mode: 'approval', validation: 'basic', storage_path: '.mcp-broker', agents };
  mkdirSync(join(repository, '.mcp-broker'), { recursive: true });
  writeFileSync(join(repository, '.mcp-broker', 'config.json'), `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
}
