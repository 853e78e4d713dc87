import { describe, expect, it } from 'vitest';
import { connected } from './connect.ts';
import { gemini } from './programs/gemini.ts';
import {
  completesATask,
  editsWhatItClaimed,
  furnished,
  hasASession,
  hearsAnAsk,
  isDeniedAnEdit,
  isRemindedAtStop,
  losesTheServer,
  worksWithItsStoredToken,
} from './scenes.ts';

describe('Gemini CLI', () => {
  it('is connected over HTTP by what covenant connect prints, and completes a task', async () => {
    const house = await connected(gemini);
    expect(await gemini.connections(house)).toEqual(['covenant']);
    const { model } = await completesATask(gemini, house, 'covenant');
    expect(model.turns[0]?.tools).toContain('mcp_covenant_covibe_task');
  });

  it('is connected through the bridge by covibe-local setup, and completes a task', async () => {
    const house = await furnished(gemini);
    expect(await gemini.connections(house)).toEqual(['covibe']);
    const { model } = await completesATask(gemini, house);
    expect(model.turns[0]?.tools).toContain('mcp_covibe_covibe_task');
  });

  it('is denied an edit of a claimed file, and may make it when it is free', async () => {
    await isDeniedAnEdit(gemini, await furnished(gemini));
  });

  it('is told of an ask between two tool calls', async () => {
    await hearsAnAsk(gemini, await furnished(gemini));
  });

  it('works with the token that the device flow has stored', async () => {
    await worksWithItsStoredToken(gemini);
  });

  it('edits what it has claimed itself', async () => {
    await editsWhatItClaimed(gemini, await furnished(gemini));
  });

  it('goes on without the server', async () => {
    await losesTheServer(gemini, false);
  });

  it('waits for the server where the workspace wants that', async () => {
    await losesTheServer(gemini, true);
  });

  it('has a session from start to end', async () => {
    await hasASession(gemini, await furnished(gemini));
  });

  it('is told of its open task when it wants to stop', async () => {
    await isRemindedAtStop(gemini, await furnished(gemini));
  });
});
