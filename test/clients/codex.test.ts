import { describe, it } from 'vitest';
import { hearsItsHooks, isConnected, livesWithTheServer } from './every-client.ts';
import { codex, codexByShell, codexInCode } from './programs/codex.ts';
import { completesATask, furnished, isDeniedAnEdit, isRemindedAtStop, recoversFromCompaction } from './scenes.ts';

describe('Codex', () => {
  isConnected(codexByShell);
  hearsItsHooks(codex);
  livesWithTheServer(codex);

  it('completes a task with a model that writes programs', async () => {
    await completesATask(codexInCode, await furnished(codexInCode));
  });

  it.each([
    ['by the shell', codexByShell],
    ['by apply_patch in a program', codexInCode],
  ])('is denied an edit of a claimed file %s, and can make the edit when the file is free', async (_, program) => {
    await isDeniedAnEdit(program, await furnished(program));
  });

  it('is reminded of its open task when it tries to stop', async () => {
    await isRemindedAtStop(codex, await furnished(codex));
  });

  it('still knows its task after its conversation was compacted', async () => {
    await recoversFromCompaction(codex, await furnished(codex));
  });
});
