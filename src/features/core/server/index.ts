import type { Feature } from '../../../kernel/tool.ts';
import { operationTools, type ServerFacts } from './tools.ts';

export type { ServerFacts } from './tools.ts';

export const operations = (facts: ServerFacts): Feature => ({ name: 'operations', implementations: operationTools(facts) });
