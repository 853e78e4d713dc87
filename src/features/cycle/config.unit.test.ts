import { describe, expect, test } from 'vitest';
import { type CycleConfig, NO_CONFIG, REDACTED, readConfig, withoutPsk } from './config.ts';
import { GEMINI_AND_CODEX } from './machine.ts';

const PSK = 'GEMINI_SECRET';
/** The example in the documentation. */
const EXAMPLE = {
  version: '0.1',
  mode: 'approval',
  validation: 'basic',
  storage_path: '.mcp-broker',
  agents: { gemini: { psk: PSK }, codex: { psk: 'CODEX_SECRET' } },
};
const OWN = {
  roles: ['planner', 'builder'],
  phases: { plan: 'planner', build: { role: 'builder' }, done: 'builder' },
  transitions: [
    { from: 'plan', target: 'builder', to: 'build' },
    { from: 'build', to: 'done' },
  ],
  final: 'done',
};

const read = (config: unknown) => readConfig(typeof config === 'string' ? config : JSON.stringify(config));
function good(config: unknown): CycleConfig {
  const result = read(config);
  if ('faults' in result) throw new Error(result.faults.join('; '));
  return result.config;
}
function faults(config: unknown): readonly string[] {
  const result = read(config);
  return 'faults' in result ? result.faults : [];
}

test('the documented file has its mode, a PSK for each role, the default machine and sessions of 12 hours [config.broker.shape]', () => {
  const config = good(EXAMPLE);
  expect(config).toMatchObject({ mode: 'approval', machine: GEMINI_AND_CODEX, sessionTtlMs: 12 * 3_600_000 });
  expect([...config.psks]).toEqual([
    ['gemini', PSK],
    ['codex', 'CODEX_SECRET'],
  ]);
  expect(withoutPsk(config)).toEqual([]);
});

test('every key is optional and has a default, and roles without a PSK are listed', () => {
  const config = good({});
  expect({ ...config, shown: {} }).toEqual(NO_CONFIG);
  expect(withoutPsk(config)).toEqual(['gemini', 'codex']);
  expect(withoutPsk(good({ agents: { gemini: { psk: PSK } } }))).toEqual(['codex']);
  // An empty PSK, as in a newly created file, counts as missing.
  expect(withoutPsk(good({ agents: { gemini: { psk: '' }, codex: { psk: 'c' } } }))).toEqual(['gemini']);
});

test('the stored form of the file contains everything but the PSKs', () => {
  const { shown } = good({ ...EXAMPLE, session_ttl_hours: 2 });
  expect(shown).toEqual({ ...EXAMPLE, session_ttl_hours: 2, agents: { gemini: { psk: REDACTED }, codex: { psk: REDACTED } } });
});

test('a custom machine keeps its phases in written order [cycle.machine.as-data]', () => {
  expect(good(OWN).machine).toEqual({
    ...OWN,
    phases: [
      { name: 'plan', role: 'planner' },
      { name: 'build', role: 'builder' },
      { name: 'done', role: 'builder' },
    ],
  });
  expect(withoutPsk(good({ ...OWN, agents: { planner: { psk: 'p' }, gemini: { psk: PSK } } }))).toEqual(['builder']);
});

describe('a fault names its key', () => {
  test.each<[string, unknown, ...string[]]>([
    ['invalid JSON', '{"agents": {"gemini": {"psk": "GEMINI_SECRET"}', 'not valid JSON'],
    ['an empty file', '', 'not valid JSON'],
    ['JSON that is not an object', `["${PSK}"]`, 'the file: '],
    ['an unknown key', { ...EXAMPLE, sesion_ttl_hours: 3 }, 'sesion_ttl_hours: unknown key'],
    ['version', { version: 1 }, 'version: '],
    ['mode', { mode: '' }, 'mode: '],
    ['a mode with a NUL character', { mode: 'a\0b' }, 'mode: '],
    ['validation', { validation: 'strict' }, 'validation: only "basic" is supported'],
    ['storage_path', { storage_path: '/etc' }, 'storage_path: only ".mcp-broker" is supported'],
    ['agents', { agents: [PSK] }, 'agents: '],
    ['an agent', { agents: { gemini: PSK } }, 'agents.gemini: '],
    ['a PSK', { agents: { gemini: { psk: [PSK] } } }, 'agents.gemini.psk: '],
    ['a PSK that is too long', { agents: { gemini: { psk: PSK.repeat(100) } } }, 'agents.gemini.psk: '],
    ['an unknown key of an agent', { agents: { gemini: { psk: PSK, key: PSK } } }, 'agents.gemini.key: unknown key'],
    ['an agent with an invalid role name', { agents: { '../x': { psk: PSK } } }, 'agents.../x: '],
    ['session_ttl_hours of zero', { session_ttl_hours: 0 }, 'session_ttl_hours: '],
    ['session_ttl_hours beyond a year', { session_ttl_hours: 9_000 }, 'session_ttl_hours: '],
    ['session_ttl_hours as text', { session_ttl_hours: '12' }, 'session_ttl_hours: '],
    ['roles', { ...OWN, roles: 'planner' }, 'roles: '],
    ['no role', { ...OWN, roles: [] }, 'roles: '],
    ['a role that is not a valid file name', { ...OWN, roles: ['planner', '../../x'] }, 'roles.1: expected a name'],
    [
      'more phases than a machine has',
      { ...OWN, phases: Object.fromEntries([...Array(65).keys()].map((n) => [`p${n}`, 'planner'])) },
      'phases: expected at most 64',
    ],
    ['a phase', { ...OWN, phases: { ...OWN.phases, build: 7 } }, 'phases.build: '],
    ['a transition', { ...OWN, transitions: [{ from: 'plan' }] }, 'transitions.0.to: '],
    ['an unknown key of a transition', { ...OWN, transitions: [{ from: 'plan', to: 'build', role: 'x' }] }, 'transitions.0.role: unknown key'],
    ['final', { ...OWN, final: 3 }, 'final: '],
    ['several', { mode: 3, validation: 'x' }, 'mode: ', 'validation: '],
    ['an invalid machine', { ...OWN, final: 'over' }, 'the final phase over does not exist'],
  ])('%s [cycle.machine.checked-at-load]', (_, config, ...expected) => {
    const found = faults(config).join('; ');
    for (const fault of expected) expect(found).toContain(fault);
    expect(found).not.toContain(PSK);
  });

  test('only the first few of many faults are reported, and only the beginning of a long key', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`${index}`, { psk: PSK }]));
    expect(faults({ agents: many })).toHaveLength(10);
    const transitions = Array.from({ length: 100 }, (_, index) => ({ from: `a${index}`, to: `b${index}`, target: 'builder' }));
    expect(faults({ ...OWN, transitions })).toHaveLength(10);
    expect(faults({ ['x'.repeat(10_000)]: 1 }).join()).toHaveLength(200);
  });

  test.each(['roles', 'phases', 'transitions', 'final'] as const)('%s set alone, or missing alone, is refused, because all four belong together', (key) => {
    const together = 'roles, phases, transitions and final must be set together or not at all';
    expect(faults({ [key]: OWN[key] })).toEqual([together]);
    expect(faults({ ...OWN, [key]: undefined })).toEqual([together]);
  });
});
