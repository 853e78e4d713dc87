import type { Feature } from '../../../kernel/tool.ts';
import type { Tally } from '../../core/events/index.ts';
import type { ToolCatalogue } from './offered-tools.ts';
import { gatewayTools } from './tools.ts';

export { offeredTools, type ToolCatalogue } from './offered-tools.ts';

export const tools = (catalogue: ToolCatalogue, tally: Tally): Feature => ({ name: 'tools', implementations: gatewayTools(catalogue, tally) });
