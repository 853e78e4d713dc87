import type { Feature } from '../../kernel/tool.ts';
import { type Catalogue, gatewayTools } from './tools.ts';

export type { Catalogue } from './tools.ts';

export const gateway = (catalogue: Catalogue): Feature => ({ name: 'gateway', implementations: gatewayTools(catalogue) });
