import { describe, expect, it } from 'vitest';
import { connected } from './connect.ts';
import { claudeCode } from './programs/claude-code.ts';
import {
  completesATask,
  editsWhatItClaimed,
  furnished,
  hasASession,
  hearsAnAsk,
  isDeniedAnEdit,
  isRemindedAtStop,
  losesTheServer,
  recoversFromCompaction,
  worksWithItsStoredToken,
} from './scenes.ts';

describe('Claude Code', () => {
  it('is connected over HTTP by what covenant connect prints, and completes a task', async () => {
    const house = await connected(claudeCode);
    expect(await claudeCode.connections(house)).toEqual(['covenant']);
    const { model } = await completesATask(claudeCode, house, 'covenant');
    expect(model.turns[0]?.tools).toContain('mcp__covenant__covibe_task');
  });

  it('is connected through the bridge by covibe-local setup, and completes a task', async () => {
    const house = await furnished(claudeCode);
    expect(await claudeCode.connections(house)).toEqual(['covibe']);
    const { model } = await completesATask(claudeCode, house);
    expect(model.turns[0]?.tools).toContain('mcp__covibe__covibe_task');
    expect(house.outside.asked).toEqual([]);
  });

  describe.each(['http', 'command'] as const)('with %s hooks', (hooks) => {
    it('is denied an edit of a claimed file, and may make it when it is free', async () => {
      await isDeniedAnEdit(claudeCode, await furnished(claudeCode, { hooks }));
    });

    it('is told of an ask between two tool calls', async () => {
      await hearsAnAsk(claudeCode, await furnished(claudeCode, { hooks }));
    });
  });

  it('works with the token that the device flow has stored', async () => {
    await worksWithItsStoredToken(claudeCode);
  });

  it('edits what it has claimed itself', async () => {
    await editsWhatItClaimed(claudeCode, await furnished(claudeCode));
  });

  it('goes on without the server', async () => {
    await losesTheServer(claudeCode, false);
  });

  it('waits for the server where the workspace wants that', async () => {
    await losesTheServer(claudeCode, true);
  });

  it('has a session from start to end', async () => {
    await hasASession(claudeCode, await furnished(claudeCode));
  });

  it('is told of its open task when it wants to stop', async () => {
    await isRemindedAtStop(claudeCode, await furnished(claudeCode));
  });

  it('knows its work again when its conversation was compacted', async () => {
    await recoversFromCompaction(claudeCode, await furnished(claudeCode));
  });
});
