import type { Feature } from '../../kernel/tool.ts';
import { telemetryTools } from './tools.ts';

export { usageSince } from './usage.ts';

export const telemetry: Feature = { name: 'telemetry', implementations: telemetryTools };
