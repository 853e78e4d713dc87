import type { Services } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { retentionSweep } from '../../core/settings/index.ts';
import type { Finder } from '../overlap/index.ts';
import { FORGOTTEN } from './retention.ts';
import { teamTools } from './tools.ts';

export const team = (services: Pick<Services, 'store' | 'clock' | 'log'>, finder: Finder): Feature => ({
  name: 'team',
  implementations: teamTools(finder),
  keeps: [{ what: 'Parallel audits but for the latest', ms: 'retention.days' }],
  sweeps: [retentionSweep(services, 'team', FORGOTTEN)],
});
