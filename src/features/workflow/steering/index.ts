import type { Feature } from '../../../kernel/tool.ts';
import type { WorkflowPorts } from '../workflows/index.ts';
import { steeringTools } from './tools.ts';

export const steering = (ports: WorkflowPorts): Feature => ({ name: 'steering', implementations: steeringTools(ports) });
