import type { Feature } from '../../../kernel/tool.ts';
import { telemetryTools } from './tools.ts';

export { usageSince } from './store.ts';

export const usage: Feature = {
  name: 'usage',
  implementations: telemetryTools,
  keeps: [{ what: 'Counters of model usage; of the reports only a hash', ms: 'retention.days' }],
};
