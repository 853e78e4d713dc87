import { describe } from 'vitest';
import { hearsItsHooks, isConnected, livesWithTheServer } from './every-client.ts';
import { opencode } from './programs/opencode.ts';

describe('opencode', () => {
  isConnected(opencode);
  hearsItsHooks(opencode);
  livesWithTheServer(opencode);
});
