import type { House } from '../../kernel/context.ts';
import type { Feature } from '../../kernel/tool.ts';
import { cycleActions } from './actions.ts';
import { createMirror } from './mirror.ts';
import type { Outside } from './place.ts';
import { cycleSweep } from './sweep.ts';
import { cycleTools } from './tools.ts';

export function cycles(house: House, outside: Outside): Feature {
  const mirror = createMirror(house, outside);
  return { name: 'cycles', implementations: [...cycleTools(outside, mirror), ...cycleActions(outside, mirror)], sweeps: [cycleSweep(house, mirror)] };
}
