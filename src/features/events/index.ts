import type { Feature } from '../../kernel/tool.ts';
import { eventTools } from './tools.ts';

export const events: Feature = { name: 'events', implementations: eventTools };
