import type { Feature } from '../../../kernel/tool.ts';
import { oversightTools } from './tools.ts';

export const oversight: Feature = { name: 'oversight', implementations: oversightTools };
