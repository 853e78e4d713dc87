import type { Feature } from '../../../kernel/tool.ts';
import { type DemoPorts, demoTools } from './tools.ts';

export { DEMO_WORKSPACE_ID, demoFolder, demoLauncher, demoServer } from './programs.ts';
export { type DemoPorts, demoHold } from './tools.ts';

export const demo = (ports: DemoPorts): Feature => ({ name: 'demo', implementations: demoTools(ports) });
