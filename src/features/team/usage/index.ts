import type { Services } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { retentionSweep } from '../../core/settings/index.ts';
import { FORGOTTEN } from './retention.ts';
import { telemetryTools } from './tools.ts';

export { usageSince } from './store.ts';

export const telemetry = (services: Pick<Services, 'store' | 'clock' | 'log'>): Feature => ({
  name: 'telemetry',
  implementations: telemetryTools,
  keeps: [{ what: 'Counters of the use of models; of the reports themselves only a hash', ms: 'retention.days' }],
  sweeps: [retentionSweep(services, 'telemetry', FORGOTTEN)],
});
