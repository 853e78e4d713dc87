import type { TestCaller } from '../app.ts';
import { workflowApp } from './workflow.ts';

/** Sets up an agent of Ana and an agent of Ben that write messages to each other. */
export async function correspondents() {
  const app = await workflowApp();
  const a = await app.agent(app.ana);
  const b = await app.agent(app.ben);
  const send = (args: object = {}, caller: TestCaller = app.ana) =>
    app.ok('message_send', { sender_id: a, recipient_id: b, message_type: 'notification', body: 'hello', ...args }, caller);
  const inbox = (args: object = {}) => app.ok('message_list', { agent_id: b, ...args }, app.ben);
  const unread = async () => (await app.ok('message_count_unread', { agent_id: b }, app.ben)).count;
  return { ...app, a, b, send, inbox, unread };
}
