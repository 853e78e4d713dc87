import type { Feature } from '../../../kernel/tool.ts';
import { recoveryTools } from './tools.ts';

export { previewOf } from './context.ts';
export { loadTokenizer } from './tokens.ts';

export const recovery: Feature = { name: 'recovery', implementations: recoveryTools };
