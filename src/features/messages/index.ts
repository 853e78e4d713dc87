import type { House } from '../../kernel/context.ts';
import type { Feature } from '../../kernel/tool.ts';
import { questionSweep } from './expiry.ts';
import { messageTools } from './tools.ts';

export { openQuestions } from './questions.ts';
export { tell } from './tell.ts';
export { unreadOf } from './unread.ts';

export const messages = (house: Pick<House, 'store' | 'clock'>): Feature => ({
  name: 'messages',
  implementations: messageTools,
  sweeps: [questionSweep(house)],
});
