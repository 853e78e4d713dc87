import type { Services } from '../../kernel/call.ts';
import type { Feature } from '../../kernel/tool.ts';
import { cycleActions } from './actions.ts';
import { createMirror } from './mirror.ts';
import type { CycleOutside } from './place.ts';
import { createCycleSweep, SESSIONS_KEPT_MS } from './sweep.ts';
import { cycleTools } from './tools.ts';

export function cycle(services: Services, outside: CycleOutside): Feature {
  const mirror = createMirror(services, outside);
  return {
    name: 'cycle',
    implementations: [...cycleTools(outside, mirror), ...cycleActions(outside, mirror)],
    keeps: [
      { what: 'Cycles, their handoffs and archives', ms: null },
      { what: 'Ended role sessions', ms: SESSIONS_KEPT_MS },
    ],
    sweeps: [createCycleSweep(services, mirror)],
  };
}
