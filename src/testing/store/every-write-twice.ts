import { beforeEach } from 'vitest';
import { undoEveryFirstCommit } from './statements.ts';

// A callback of `write` may run again: whatever it does outside of its transaction would then be done twice.
beforeEach(undoEveryFirstCommit);
