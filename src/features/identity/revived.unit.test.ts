import { expect, test } from 'vitest';
import type { StoredToken } from '../../storage/restored.ts';
import { revivedTokens } from './revived.ts';

const NOW = 1_000;
const token = (id: string, more: Partial<StoredToken> = {}): StoredToken => ({
  ...{ workspace_id: 'ws_default', id, hash: `hash of ${id}`, kind: 'agent', label: id, revoked_at: null, expires_at: null },
  ...more,
});

test('a token of a backup is revived where it has ended, changed or gone since; what stands, or had ended before, is not [harden.restore.revived-tokens]', () => {
  const backup = [
    token('same'),
    token('revoked'),
    token('expired'),
    token('rotated'),
    token('overlapping', { previous_hash: 'older', previous_ends_at: NOW + 1 }),
    token('overlapped', { previous_hash: 'older', previous_ends_at: NOW }),
    token('gone'),
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
    token('past'),
  ];
  expect(revivedTokens(backup, current, NOW).map(({ token: { id }, why }) => [id, why])).toEqual([
    ['revoked', 'revoked'],
    ['expired', 'expired'],
    ['rotated', 'replaced'],
    ['overlapping', 'replaced'],
    ['gone', 'unknown'],
  ]);
  expect(revivedTokens([token('same')], [token('same', { workspace_id: 'ws_other' })], NOW)).toHaveLength(1);
  expect(revivedTokens(backup, undefined, NOW)).toHaveLength(7);
});
