import type { Feature } from '../../kernel/tool.ts';
import { contextTools } from './tools.ts';

export { activeContexts, latestContextOf, standingContext } from './views.ts';

export const contexts: Feature = { name: 'contexts', implementations: contextTools };
