import { describe, expect, it } from 'vitest';
import { connected } from './connect.ts';
import { codex, codexByShell, codexInCode } from './programs/codex.ts';
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

describe('Codex', () => {
  it('is connected over HTTP by what covenant connect prints, and completes a task', async () => {
    const house = await connected(codexByShell);
    expect(await codexByShell.connections(house)).toEqual(['covenant']);
    const { model } = await completesATask(codexByShell, house, 'covenant');
    expect(model.turns[0]?.tools).toContain('mcp__covenant/covibe_task');
  });

  it('is connected through the bridge by covibe-local setup, and completes a task', async () => {
    const house = await furnished(codexByShell);
    expect(await codexByShell.connections(house)).toEqual(['covibe']);
    const { model } = await completesATask(codexByShell, house);
    expect(model.turns[0]?.tools).toContain('mcp__covibe/covibe_task');
  });

  it('completes a task with a model that writes programs', async () => {
    await completesATask(codexInCode, await furnished(codexInCode));
  });

  it.each([
    ['by apply_patch', codex],
    ['by the shell', codexByShell],
    ['by apply_patch in a program', codexInCode],
  ])('is denied an edit of a claimed file %s, and may make it when it is free', async (_, program) => {
    await isDeniedAnEdit(program, await furnished(program));
  });

  it('is told of an ask between two tool calls', async () => {
    await hearsAnAsk(codex, await furnished(codex));
  });

  it('works with the token that the device flow has stored', async () => {
    await worksWithItsStoredToken(codex);
  });

  it('edits what it has claimed itself', async () => {
    await editsWhatItClaimed(codex, await furnished(codex));
  });

  it('goes on without the server', async () => {
    await losesTheServer(codex, false);
  });

  it('waits for the server where the workspace wants that', async () => {
    await losesTheServer(codex, true);
  });

  it('has a session from start to end', async () => {
    await hasASession(codex, await furnished(codex));
  });

  it('is told of its open task when it wants to stop', async () => {
    await isRemindedAtStop(codex, await furnished(codex));
  });

  it('knows its work again when its conversation was compacted', async () => {
    await recoversFromCompaction(codex, await furnished(codex));
  });
});
