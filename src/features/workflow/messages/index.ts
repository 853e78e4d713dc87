import type { House } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { retentionSweep } from '../../core/settings/index.ts';
import { questionSweep } from './expiry.ts';
import { FORGOTTEN } from './retention.ts';
import { messageTools } from './tools.ts';

export type { MessageRow } from '../../../storage/schema-rows.ts';
export { HUMAN, SERVER } from './addresses.ts';
export { noteDelivery } from './inbox.ts';
export { answerNamed } from './people.ts';
export { openQuestion, openQuestions } from './questions.ts';
export { broadcast, recipientsOf } from './send.ts';
export { findMessage, findMessages, undeliveredTo } from './store.ts';
export { tell } from './tell.ts';
export {
  beginnings,
  beginningsOf,
  factsOf,
  firstOf,
  lastOf,
  openQuestionThreads,
  type ThreadFacts,
  type ThreadHead,
  undeliveredThreads,
} from './thread-store.ts';
export { unreadOf } from './unread.ts';
export { bodyText } from './views.ts';

export const messages = (house: Pick<House, 'store' | 'clock' | 'log'>): Feature => ({
  name: 'messages',
  implementations: messageTools,
  keeps: [{ what: 'Messages of threads in which nothing is unread or unanswered', ms: 'retention.days' }],
  sweeps: [questionSweep(house), retentionSweep(house, 'messages', FORGOTTEN)],
});
