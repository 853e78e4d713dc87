import type { Feature } from '../../../kernel/tool.ts';
import { templateTools } from './tools.ts';

export const templates: Feature = { name: 'templates', implementations: templateTools };
