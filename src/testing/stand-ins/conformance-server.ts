import { randomUUID } from 'node:crypto';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import {
  createMcpHandler,
  type EventStore,
  type GetPromptResult,
  type InputRequiredResult,
  isLegacyRequest,
  type ListPromptsResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { asking, type FixtureState, PNG, states, TOOLS } from './conformance-tools.ts';

/** A server for the official conformance suite. It can be tested directly or behind the gateway, and supports old and new protocol versions. */
export interface Fixture extends FixtureState {
  server(): Server;
  onToggle(listener: (what: 'tools' | 'prompts') => void): void;
}

const CACHE = { ttlMs: 0, cacheScope: 'private' } as const;
const noArguments = { type: 'object', properties: {} } as const;

export function createFixture(): Fixture {
  const hidden = { tools: false, prompts: false };
  const listeners = new Set<(what: 'tools' | 'prompts') => void>();
  const fixture: Fixture = {
    toggle(what) {
      hidden[what] = !hidden[what];
      for (const listener of listeners) listener(what);
    },
    onToggle: (listener) => void listeners.add(listener),
    server: () => serverOf(fixture, hidden),
  };
  return fixture;
}

function serverOf(fixture: Fixture, hidden: { tools: boolean; prompts: boolean }): Server {
  const server = new Server(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        logging: {},
      },
      requestState: { verify: states.verify },
      cacheHints: { 'tools/list': CACHE, 'prompts/list': CACHE, 'resources/list': CACHE, 'resources/templates/list': CACHE, 'resources/read': CACHE },
    },
  );
  server.setRequestHandler('tools/list', () => {
    const tools = Object.entries(TOOLS).map(([name, { description, inputSchema }]) => ({ name, description, inputSchema: inputSchema ?? noArguments }));
    if (!hidden.tools) tools.push({ name: 'test_comes_and_goes', description: 'Is there every other time.', inputSchema: noArguments });
    return { tools: tools as ListToolsResult['tools'] };
  });
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const tool = TOOLS[params.name];
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}`);
    return await tool.call(params.arguments ?? {}, ctx, fixture);
  });
  server.setRequestHandler('prompts/list', () => ({
    prompts: [...PROMPTS, ...(hidden.prompts ? [] : [{ name: 'test_prompt_comes_and_goes', description: 'Is there every other time.' }])],
  }));
  server.setRequestHandler('prompts/get', ({ params }, ctx) => promptOf(params.name, params.arguments ?? {}, ctx));
  server.setRequestHandler('resources/list', () => ({ resources: RESOURCES.map(({ uri, name, mimeType }) => ({ uri, name, mimeType })) }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({ contents: [contentOf(uri)] }));
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    contentOf(uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('completion/complete', ({ params: { argument } }) => {
    const values = ['paris', 'park', 'party', 'test'].filter((value) => value.startsWith(argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
  return server;
}

const PROMPTS: ListPromptsResult['prompts'] = [
  { name: 'test_simple_prompt', description: 'Without arguments.' },
  {
    name: 'test_prompt_with_arguments',
    description: 'With two arguments.',
    arguments: ['arg1', 'arg2'].map((name) => ({ name, description: 'Any text.', required: true })),
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'With a resource.',
    arguments: [{ name: 'resourceUri', description: 'Which one.', required: true }],
  },
  { name: 'test_prompt_with_image', description: 'With an image.' },
  { name: 'test_input_required_result_prompt', description: 'Asks the user first.' },
];

function promptOf(name: string, args: Record<string, string>, ctx: ServerContext): GetPromptResult | InputRequiredResult {
  const says = (...content: GetPromptResult['messages'][number]['content'][]): GetPromptResult => ({
    messages: content.map((one) => ({ role: 'user', content: one })),
  });
  const text = (value: string) => ({ type: 'text' as const, text: value });
  switch (name) {
    case 'test_simple_prompt':
    case 'test_prompt_comes_and_goes':
      return says(text('This is a simple prompt for testing.'));
    case 'test_prompt_with_arguments':
      return says(text(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`));
    case 'test_prompt_with_embedded_resource':
      return says(
        { type: 'resource', resource: { uri: args.resourceUri ?? '', mimeType: 'text/plain', text: 'Embedded resource content for testing.' } },
        text('Please process the embedded resource above.'),
      );
    case 'test_prompt_with_image':
      return says({ type: 'image', data: PNG, mimeType: 'image/png' }, text('Please analyze the image above.'));
    case 'test_input_required_result_prompt': {
      const requestedSchema = { type: 'object' as const, properties: { context: { type: 'string' as const } }, required: ['context'] };
      const message = 'What context should the prompt use?';
      const asked = asking({ user_context: { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } } }, ctx);
      return 'missing' in asked ? asked.missing : says(text(JSON.stringify(asked.answers)));
    }
    default:
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${name}`);
  }
}

type Content = { uri: string; mimeType: string } & ({ text: string } | { blob: string });
const RESOURCES: readonly (Content & { name: string })[] = [
  { uri: 'test://static-text', name: 'static-text', mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  { uri: 'test://static-binary', name: 'static-binary', mimeType: 'image/png', blob: PNG },
  { uri: 'test://watched-resource', name: 'watched-resource', mimeType: 'text/plain', text: 'Watch me.' },
];

function contentOf(uri: string): Content {
  const listed = RESOURCES.find((resource) => resource.uri === uri);
  if (listed) {
    const { name: _, ...content } = listed;
    return content;
  }
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id === undefined) throw new ResourceNotFoundError(uri);
  return { uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
}

export interface ServedFixture {
  readonly url: string;
  readonly fixture: Fixture;
  /** Makes the server forget its sessions, as if it had been restarted with the same address. */
  forgetSessions(): void;
  close(): Promise<void>;
}

/** Starts the server. With `legacy`, it behaves like a server that does not know the newer protocol version. */
export async function serveFixture(eras: 'both' | 'legacy' | 'modern' = 'both', port = 0): Promise<ServedFixture> {
  const fixture = createFixture();
  const modern = createMcpHandler(fixture.server, { legacy: 'reject' });
  const sessions = new Map<string, { server: Server; transport: WebStandardStreamableHTTPServerTransport }>();
  fixture.onToggle((what) => {
    modern.notify[what === 'tools' ? 'toolsChanged' : 'promptsChanged']();
    for (const { server } of sessions.values()) void (what === 'tools' ? server.sendToolListChanged() : server.sendPromptListChanged()).catch(() => {});
  });

  async function legacy(request: Request): Promise<Response> {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
    if (known) return await known.transport.handleRequest(request);
    if (request.headers.has('mcp-session-id')) return new Response(null, { status: 404 });
    const server = fixture.server();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: memoryEventStore(),
      retryInterval: 100,
      onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await server.connect(transport);
    return await transport.handleRequest(request);
  }

  const http = createServer(
    getRequestListener(async (request) => {
      const foreign = new URL(request.url).hostname !== '127.0.0.1' || !/^(http:\/\/127\.0\.0\.1:\d+)?$/.test(request.headers.get('origin') ?? '');
      if (foreign) return new Response(null, { status: 403 });
      const isLegacy = eras === 'legacy' || (eras === 'both' && (await isLegacyRequest(request)));
      return await (isLegacy ? legacy(request) : modern.fetch(request));
    }),
  );
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    fixture,
    forgetSessions: () => sessions.clear(),
    async close() {
      await modern.close();
      for (const { server } of sessions.values()) await server.close();
      await ended(http);
    },
  };
}

async function ended(http: HttpServer): Promise<void> {
  const closed = new Promise<void>((resolve) => http.close(() => resolve()));
  http.closeAllConnections();
  await closed;
}

function memoryEventStore(): EventStore {
  const events: { stream: string; message: Parameters<EventStore['storeEvent']>[1] }[] = [];
  return {
    async storeEvent(stream, message) {
      events.push({ stream, message });
      return String(events.length);
    },
    async replayEventsAfter(last, { send }) {
      const stream = events[Number(last) - 1]?.stream ?? '';
      for (const [index, event] of events.entries()) if (index >= Number(last) && event.stream === stream) await send(String(index + 1), event.message);
      return stream;
    },
  };
}
