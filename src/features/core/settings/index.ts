import type { Feature } from '../../../kernel/tool.ts';
import { type Inventory, inventoryTools, settingTools } from './tools.ts';

export { type Forgotten, failsClosed, type ReviewLimits, retentionSweep, reviewLimits, rowsOf } from './store.ts';
export type { Inventory } from './tools.ts';

export const settings = (inventory: Inventory): Feature => ({ name: 'settings', implementations: [...settingTools, ...inventoryTools(inventory)] });
