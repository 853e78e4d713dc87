import { describe, expect, it } from 'vitest';
import { connected } from './connect.ts';
import { opencode } from './programs/opencode.ts';
import { completesATask, editsWhatItClaimed, furnished, hasASession, hearsAnAsk, isDeniedAnEdit, losesTheServer, worksWithItsStoredToken } from './scenes.ts';

describe('opencode', () => {
  it('is connected over HTTP by what covenant connect prints, and completes a task', async () => {
    const house = await connected(opencode);
    expect(await opencode.connections(house)).toEqual(['covenant']);
    const { model } = await completesATask(opencode, house, 'covenant');
    expect(model.turns[0]?.tools).toContain('covenant_covibe_task');
  });

  it('is connected through the bridge by covibe-local setup, and completes a task', async () => {
    const house = await furnished(opencode);
    expect(await opencode.connections(house)).toEqual(['covibe']);
    const { model } = await completesATask(opencode, house);
    expect(model.turns[0]?.tools).toContain('covibe_covibe_task');
  });

  it('is denied an edit of a claimed file, and may make it when it is free', async () => {
    await isDeniedAnEdit(opencode, await furnished(opencode));
  });

  it('is told of an ask between two tool calls', async () => {
    await hearsAnAsk(opencode, await furnished(opencode));
  });

  it('works with the token that the device flow has stored', async () => {
    await worksWithItsStoredToken(opencode);
  });

  it('edits what it has claimed itself', async () => {
    await editsWhatItClaimed(opencode, await furnished(opencode));
  });

  it('goes on without the server', async () => {
    await losesTheServer(opencode, false);
  });

  it('waits for the server where the workspace wants that', async () => {
    await losesTheServer(opencode, true);
  });

  it('has a session from start to end', async () => {
    await hasASession(opencode, await furnished(opencode));
  });
});
