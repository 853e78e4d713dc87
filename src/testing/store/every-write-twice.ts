import { beforeEach } from 'vitest';
import { undoEveryFirstCommit } from './statements.ts';

// The server may run a write callback more than once. Here each callback runs twice, to find callbacks that do something outside of their transaction.
beforeEach(undoEveryFirstCommit);
