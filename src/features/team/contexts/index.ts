import type { Services } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { retentionSweep } from '../../core/settings/index.ts';
import { FORGOTTEN } from './retention.ts';
import { contextTools } from './tools.ts';

export { activeContexts, latestContextOf, standingContext } from './store.ts';

export const contexts = (services: Pick<Services, 'store' | 'clock' | 'log'>): Feature => ({
  name: 'contexts',
  implementations: contextTools,
  keeps: [{ what: 'Contexts of sessions that were replaced, revoked or ran out', ms: 'retention.days' }],
  sweeps: [retentionSweep(services, 'contexts', FORGOTTEN)],
});
