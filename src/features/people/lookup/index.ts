import type { Feature } from '../../../kernel/tool.ts';
import { lookupTools } from './tools.ts';

export { PLACES } from './places.ts';

export const lookup: Feature = { name: 'lookup', implementations: lookupTools };
