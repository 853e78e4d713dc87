import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { createStaleRunSweep, RUNS_KEPT_MS } from './store.ts';
import { type HookParts, hookTools } from './tools.ts';

export const hooks = (services: Pick<Services, 'store' | 'clock'>, parts: HookParts): Feature => ({
  name: 'hooks',
  implementations: hookTools(parts),
  keeps: [{ what: 'Runs of agent programs reported by their hooks: program, place and times', ms: RUNS_KEPT_MS }],
  sweeps: [createStaleRunSweep(services)],
});
