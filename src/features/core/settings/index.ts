import type { Feature } from '../../../kernel/tool.ts';
import { type Inventory, inventoryTools } from './inventory.ts';
import { settingTools } from './tools.ts';

export type { Inventory } from './inventory.ts';
export { type RetentionRule, retentionSweep, rowsOf } from './retention.ts';
export { failsClosed, type ReviewLimits, reviewLimits } from './store.ts';

export const settings = (inventory: Inventory): Feature => ({ name: 'settings', implementations: [...settingTools, ...inventoryTools(inventory)] });
