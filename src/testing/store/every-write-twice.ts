import { beforeEach } from 'vitest';
import { undoEveryFirstCommit } from './statements.ts';

// A callback of `write` may run again, so everything it does outside its transaction would happen twice.
beforeEach(undoEveryFirstCommit);
