import type { Feature } from '../../../kernel/tool.ts';
import type { Tally } from '../../core/events/index.ts';
import type { Catalogue } from './offered.ts';
import { gatewayTools } from './tools.ts';

export { type Catalogue, offeredTools } from './offered.ts';

export const gateway = (catalogue: Catalogue, tally: Tally): Feature => ({ name: 'gateway', implementations: gatewayTools(catalogue, tally) });
