import { PSKS } from '../../scenes/cycle.ts';
import type { Kitchen, Recipe } from './kitchen.ts';

type Role = keyof typeof PSKS;
const PHASES = ['frontend', 'backend', 'frontend_refine', 'complete'] as const;
type Phase = (typeof PHASES)[number];

const here = (at: Kitchen) => ({ repository_path: at.scene.broker });
const active = (at: Kitchen) => at.scene.captured.rows('cycles').find(({ status }) => status === 'active');

async function clear(at: Kitchen): Promise<void> {
  if (active(at)) await at.done('cycles.cancel', { ...here(at), reason: 'for another' });
}

const open = async (at: Kitchen, role: Role): Promise<string> => (await at.first('session.open', { ...here(at), role, psk: PSKS[role] })).data.session_token;

/** Brings the repository's cycle to this phase. Starts a cycle if there is none. */
async function cycleIn(at: Kitchen, phase: Phase): Promise<void> {
  const now = active(at)?.phase;
  if (now === phase) return;
  if (!now || PHASES.indexOf(now as Phase) > PHASES.indexOf(phase)) {
    await clear(at);
    await at.first('cycle.start', { ...here(at), feature: `feature ${at.n}` });
  }
  while (active(at)?.phase !== phase) {
    const turn = await turnOf(at);
    const from = active(at)?.phase;
    if (from === 'frontend_refine') await at.first('cycle.complete', { ...here(at), ...turn.tokens });
    else await at.first('handoff.write', { ...here(at), ...turn.tokens, ...handoff(at) });
  }
}

/** Opens a session and acquires the lock for the role whose turn it is. */
async function turnOf(at: Kitchen): Promise<{ tokens: { session_token: string; lock_token: string } }> {
  const session_token = await open(at, active(at)?.active_role as Role);
  const { data } = await at.first('lock.acquire', { ...here(at), session_token });
  return { tokens: { session_token, lock_token: data.lock_token } };
}

function handoff(at: Kitchen): { target: Role; payload: object } {
  const { cycle_id, feature, active_role } = active(at) ?? {};
  const target: Role = active_role === 'gemini' ? 'codex' : 'gemini';
  const lists = { files_modified: ['src/a.ts'], endpoints: [], data_shapes: [], assumptions: [], todos: [], notes: [] };
  return { target, payload: { cycle_id, feature, producer: active_role, consumer: target, ...lists } };
}

const by = (cook: (at: Kitchen) => Promise<object> | object): Recipe => ({ by: ['ana', 'ben', 'ana_too'], with: cook });

export const CYCLE: Readonly<Record<string, Recipe>> = {
  'cycle.start': by(async (at) => {
    await clear(at);
    return { ...here(at), feature: `start ${at.n}`, mode: at.either('approval', undefined) };
  }),
  'cycle.status': by(here),
  'session.open': by((at) => ({ ...here(at), ...at.either({ role: 'gemini', psk: PSKS.gemini }, { role: 'codex', psk: PSKS.codex }) })),
  'lock.acquire': by(async (at) => {
    await cycleIn(at, at.either('frontend', 'backend'));
    return { ...here(at), session_token: await open(at, active(at)?.active_role as Role) };
  }),
  'handoff.write': by(async (at) => {
    await cycleIn(at, at.either('frontend', 'backend'));
    return { ...here(at), ...(await turnOf(at)).tokens, ...handoff(at) };
  }),
  'handoff.read': by(async (at) => {
    await cycleIn(at, 'backend');
    return { ...here(at), target: 'codex' };
  }),
  'cycle.complete': by(async (at) => {
    await cycleIn(at, 'frontend_refine');
    return { ...here(at), ...(await turnOf(at)).tokens };
  }),
  'cycle.archive': by(async (at) => {
    await cycleIn(at, 'complete');
    return { ...here(at), ...(await turnOf(at)).tokens };
  }),
};

/** Also used by the recipes for actions, because people who call an action need neither a session nor a lock. */
export const cycleCooking = { here, active, clear, cycleIn, open };
