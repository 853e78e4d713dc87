import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { inboxTools } from './inbox.ts';
import { questionSweep, questionTools } from './questions.ts';
import { sendTools } from './send.ts';
import { threadTools } from './thread-tools.ts';

export type { MessageRow } from '../../../storage/schema-rows.ts';
export { HUMAN, SERVER } from './contract.ts';
export { noteDelivery, unreadOf } from './inbox.ts';
export { bodyText } from './message.ts';
export { openQuestion, openQuestions } from './question-views.ts';
export { sendDirectMessage } from './send.ts';
export { finishedThreads, undeliveredTo } from './store.ts';

/** Messages between agents and people. People see them as threads, together with the asks, handoffs and announcements that the team group stores. */
export const messages = (services: Pick<Services, 'store' | 'clock' | 'log'>): Feature => ({
  name: 'messages',
  implementations: [...sendTools, ...inboxTools, ...questionTools, ...threadTools],
  keeps: [{ what: 'Messages in threads that contain no unread or unanswered messages', ms: 'retention.days' }],
  sweeps: [questionSweep(services)],
});
