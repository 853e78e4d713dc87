import type { Feature } from '../../../kernel/tool.ts';
import type { Finder } from '../overlap/index.ts';
import { teamTools } from './tools.ts';

export const teamOverview = (finder: Finder): Feature => ({
  name: 'team-overview',
  implementations: teamTools(finder),
  keeps: [{ what: 'Parallel audits except the latest', ms: 'retention.days' }],
});
