import type { Feature } from '../../../kernel/tool.ts';
import { type DemoPorts, demoTools } from './tools.ts';

export type { DemoPorts } from './tools.ts';
export { DEMO_WORKSPACE_ID, demoFolder, demoLauncher, demoServer, standingDemo } from './tools.ts';

export const demo = (ports: DemoPorts): Feature => ({ name: 'demo', implementations: demoTools(ports) });
