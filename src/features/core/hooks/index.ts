import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { createStaleRunSweep, RUNS_KEPT_MS } from './store.ts';
import { type HookParts, hookTools } from './tools.ts';

export const hooks = (services: Pick<Services, 'store' | 'clock'>, parts: HookParts): Feature => ({
  name: 'hooks',
  implementations: hookTools(parts),
  keeps: [{ what: "Runs of agents' own programs that their hooks told of: which, where and since when", ms: RUNS_KEPT_MS }],
  sweeps: [createStaleRunSweep(services)],
});
