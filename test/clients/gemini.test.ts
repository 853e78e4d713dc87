import { describe, it } from 'vitest';
import { hearsItsHooks, isConnected, livesWithTheServer } from './every-client.ts';
import { gemini } from './programs/gemini.ts';
import { furnished, isRemindedAtStop } from './scenes.ts';

describe('Gemini CLI', () => {
  isConnected(gemini);
  hearsItsHooks(gemini);
  livesWithTheServer(gemini);

  it('is reminded of its open task when it tries to stop', async () => {
    await isRemindedAtStop(gemini, await furnished(gemini));
  });
});
