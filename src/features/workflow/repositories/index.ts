import type { Feature } from '../../../kernel/tool.ts';
import { repositoryTools } from './tools.ts';

export { ensureRepository } from './store.ts';

export const repositories: Feature = { name: 'repositories', implementations: repositoryTools };
