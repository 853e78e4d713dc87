import type { Feature } from '../../../kernel/tool.ts';
import { type ServerFacts, serverTools } from './tools.ts';

export type { ServerFacts } from './tools.ts';

export const server = (facts: ServerFacts): Feature => ({ name: 'server', implementations: serverTools(facts) });
