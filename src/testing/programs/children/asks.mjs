// A server with an older protocol version, which sends requests to its client during a call. Tools:
//   ask {method, params, times}  sends the request this many times, one after another, and returns the answers as JSON
//   wait                         logs `waiting`, and answers once `go` is called
//   odd                          a result with unknown fields;  fails: an error result
//   error                        a protocol error;              invalid: not a valid result
//   log {text}                   sends it as a log message of level `warning`, and the current level in one of level `error`
//   deep                         a result nested two thousand levels deep
//   meta                         returns the request's own _meta
import { send, serve, text, tool } from './rpc.mjs';

const waiting = new Map();
let asked = 0;
let level = 'none';
let go = () => {};
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = `question-${++asked}`;
    waiting.set(id, resolve);
    send({ id, method, params });
  });

process.stdin.on('data', (chunk) => {
  for (const line of String(chunk).split('\n').filter(Boolean)) {
    const { id, method, result, error } = JSON.parse(line);
    if (method === undefined) waiting.get(id)?.(result ?? { error });
  }
});

serve({
  name: 'asks',
  capabilities: { tools: {}, logging: {} },
  tools: ['ask', 'wait', 'go', 'odd', 'fails', 'error', 'invalid', 'log', 'deep', 'meta'].map((name) => tool(name)),
  requests: {
    'logging/setLevel': (params) => {
      level = params.level;
      return {};
    },
  },
  call: {
    ask: async ({ method, params = {}, times = 1 }) => {
      const answers = [];
      for (let at = 0; at < times; at++) answers.push(await ask(method, params));
      return text(JSON.stringify(answers));
    },
    wait: () => {
      send({ method: 'notifications/message', params: { level: 'error', data: 'waiting' } });
      return new Promise((resolve) => {
        go = () => resolve(text('waited'));
      });
    },
    go: () => {
      go();
      return text('gone');
    },
    odd: () => ({
      content: [
        { type: 'text', text: 'x', flavour: 'sour' },
        { type: 'hologram', data: 1 },
      ],
      structuredContent: { a: 1 },
      vendor: [1],
      _meta: { 'x/y': 1 },
    }),
    fails: () => ({ ...text('it did not work'), isError: true }),
    error: (_args, id) => void send({ id, error: { code: -32050, message: 'a rule of mine', data: { rule: 7 } } }),
    invalid: () => ({ nothing: 'of use' }),
    log: (args) => {
      send({ method: 'notifications/message', params: { level: 'warning', data: args.text } });
      send({ method: 'notifications/message', params: { level: 'error', data: level } });
      send({ method: 'notifications/message', params: { level: 'debug', data: 'noise' } });
      return text('logged');
    },
    deep: () => {
      let structuredContent = {};
      for (let level = 0; level < 2_000; level++) structuredContent = { inner: structuredContent };
      return { content: [], structuredContent };
    },
    meta: (_args, _id, { _meta }) => text(JSON.stringify(_meta ?? null)),
  },
});
