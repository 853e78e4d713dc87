// A server of the older revisions with one resource, `note:one`, that supports subscriptions. Its tool `update` notifies subscribers, also about a
// resource that nobody asked for, and returns their number.
import { send, serve, text, tool } from './rpc.mjs';

const subscribed = new Set();
serve({
  name: 'watched',
  capabilities: { tools: {}, resources: { subscribe: true } },
  tools: [tool('update')],
  requests: {
    'resources/list': () => ({ resources: [{ uri: 'note:one', name: 'one' }] }),
    'resources/subscribe': ({ uri }) => {
      subscribed.add(uri);
      return {};
    },
    'resources/unsubscribe': ({ uri }) => {
      subscribed.delete(uri);
      return {};
    },
  },
  call: {
    update: () => {
      for (const uri of ['note:unasked', ...subscribed]) send({ method: 'notifications/resources/updated', params: { uri } });
      return text(subscribed.size);
    },
  },
});
