import { expect, test } from 'vitest';
import type { StoredToken } from '../../../storage/restored-file.ts';
import { revivedTokens } from './revived-tokens.ts';

const NOW = 1_000;
const token = (id: string, more: Partial<StoredToken> = {}): StoredToken => ({
  ...{
    workspace_id: 'ws_default',
    id,
    hash: `hash of ${id}`,
    kind: 'agent',
    developer_id: 'dev_1',
    agent_type: 'codex',
    label: id,
    revoked_at: null,
    expires_at: null,
  },
  ...more,
});

test("a backup's token counts as revived if it has since ended, changed or disappeared, but not if it is unchanged or had already ended [harden.restore.revived-tokens]", () => {
  const backup = [
    token('same'),
    token('revoked'),
    token('expired'),
    token('rotated'),
    token('overlapping', { previous_hash: 'older', previous_ends_at: NOW + 1 }),
    token('overlapped', { previous_hash: 'older', previous_ends_at: NOW }),
    token('gone'),
    token('raised', { kind: 'operator' }),
    token('given', { developer_id: 'dev_2' }),
    token('retyped', { agent_type: 'claude' }),
    token('instance', { instance_id: 'work-1-a1' }),
    token('endless'),
    token('longer', { expires_at: NOW + 9 }),
    token('shorter', { expires_at: NOW + 1 }),
    token('past', { revoked_at: 1 }),
    token('over', { expires_at: 9 }),
  ];
  const current = [
    token('same'),
    token('revoked', { revoked_at: 5 }),
    token('expired', { expires_at: 9 }),
    token('rotated', { hash: 'another' }),
    token('overlapping'),
    token('overlapped'),
    ...['raised', 'given', 'retyped', 'instance'].map((id) => token(id)),
    ...['endless', 'longer', 'shorter'].map((id) => token(id, { expires_at: NOW + 5 })),
    token('past'),
  ];
  expect(revivedTokens(backup, current, NOW).map(({ token: { id }, why }) => [id, why])).toEqual([
    ['revoked', 'revoked'],
    ['expired', 'expired'],
    ['rotated', 'replaced'],
    ['overlapping', 'replaced'],
    ['gone', 'unknown'],
    ...['raised', 'given', 'retyped', 'instance', 'endless', 'longer'].map((id) => [id, 'replaced']),
  ]);
  expect(revivedTokens([token('same')], [token('same', { workspace_id: 'ws_other' })], NOW)).toHaveLength(1);
  expect(revivedTokens(backup, undefined, NOW)).toHaveLength(14);
});
