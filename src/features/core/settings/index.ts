import type { Feature } from '../../../kernel/tool.ts';
import { type Inventory, inventoryTools, settingTools } from './tools.ts';

export { type Forgotten, retentionSweep, rowsOf } from './retention.ts';
export { failsClosed, type ReviewLimits, reviewLimits } from './store.ts';
export type { Inventory } from './tools.ts';

export const settings = (inventory: Inventory): Feature => ({ name: 'settings', implementations: [...settingTools, ...inventoryTools(inventory)] });
