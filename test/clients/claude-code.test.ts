import { describe, it } from 'vitest';
import { hearsItsHooks, isConnected, livesWithTheServer } from './every-client.ts';
import { claudeCode } from './programs/claude-code.ts';
import { furnished, isRemindedAtStop, recoversFromCompaction } from './scenes.ts';

describe('Claude Code', () => {
  isConnected(claudeCode);
  describe.each(['http', 'command'] as const)('with %s hooks', (hooks) => hearsItsHooks(claudeCode, hooks));
  livesWithTheServer(claudeCode);

  it('is reminded of its open task when it tries to stop', async () => {
    await isRemindedAtStop(claudeCode, await furnished(claudeCode));
  });

  it('still knows its task after its conversation was compacted', async () => {
    await recoversFromCompaction(claudeCode, await furnished(claudeCode));
  });
});
