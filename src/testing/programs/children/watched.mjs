// A server with an older protocol version. Clients can subscribe to its only resource, `note:one`. Its tool `update` notifies subscribers about this resource
// and about one that nobody asked for. It returns the number of subscribers.
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
