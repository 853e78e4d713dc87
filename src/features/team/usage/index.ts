import type { Feature } from '../../../kernel/tool.ts';
import { telemetryTools } from './tools.ts';

export { usageSince } from './store.ts';

export const usage: Feature = {
  name: 'usage',
  implementations: telemetryTools,
  keeps: [{ what: 'Counters of model usage, and a hash of each report', ms: 'retention.days' }],
};
