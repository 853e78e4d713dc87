import type { Feature } from '../../kernel/tool.ts';
import { recoveryTools } from './tools.ts';

export const recovery: Feature = { name: 'recovery', implementations: recoveryTools };
