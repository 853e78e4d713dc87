import type { Feature } from '../../kernel/tool.ts';
import { settingTools } from './tools.ts';

export { type Limits, reviewLimits } from './store.ts';

export const settings: Feature = { name: 'settings', implementations: settingTools };
