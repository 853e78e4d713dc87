import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type Args = Readonly<Record<string, unknown>>;

/** What a client sends to its model in one request. */
export interface Request {
  /** The names of the offered tools, as the model must use them. */
  readonly tools: readonly string[];
  /** The answers of tools in this conversation, oldest first. */
  readonly results: readonly string[];
  /** All other text in pieces. It also contains the text from hooks, which each client puts in a different place. */
  readonly pieces: readonly string[];
}

export interface ModelRequest extends Request {
  /** The text that was not in earlier requests. */
  readonly added: string;
}

/** What the model does next. It either calls a tool, with arguments that may depend on what it received, or it answers and ends. */
export type Step = ({ readonly tool: string; readonly with: ArgsOf } | { readonly say: string }) & {
  /** Runs before the action. */
  readonly first?: (told: ModelRequest) => unknown;
  /** The number of tokens in the conversation that the model reports to the client. */
  readonly tokens?: number;
};
export type ArgsOf = Args | ((told: ModelRequest) => Args);

/** A step with all values that the provider's format needs. */
export type Said = ({ readonly tool: string; readonly args: Args } | { readonly text: string }) & { readonly id: string; readonly tokens: number };

/** How a provider's models receive requests and send answers. */
export interface Protocol {
  /** Whether the request is part of the agent's conversation. Clients also send other requests, for example for titles. */
  isTurn(path: string, body: Args): boolean;
  read(body: Args): Request;
  answer(response: ServerResponse, path: string, said: Said): void;
}

const FEW = 10;

export interface Model {
  readonly url: string;
  /** The requests that belong to the agent's conversation. */
  readonly turns: readonly ModelRequest[];
  /** Requests to other paths, and requests that do not belong to the conversation. */
  readonly besides: readonly string[];
  /** Errors that the steps of the test have thrown. */
  readonly failures: readonly unknown[];
}

/** Starts a model that follows the steps of the test. It has its own port and ends with the test. After the last step, it answers that it is done. */
export async function scriptedModel(protocol: Protocol, steps: readonly Step[]): Promise<Model> {
  const turns: ModelRequest[] = [];
  const besides: string[] = [];
  const failures: unknown[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '/';
    const body = await bodyOf(request);
    const id = `${turns.length}_${besides.length}`;
    if (!protocol.isTurn(path, body)) {
      besides.push(`${request.method} ${path}`);
      if (request.method === 'POST') return protocol.answer(response, path, { id, tokens: FEW, text: 'Nothing.' });
      return void response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    }
    const said = protocol.read(body);
    const before = new Set(turns.at(-1)?.pieces);
    const told = { ...said, added: said.pieces.filter((piece) => !before.has(piece)).join('\n') };
    const step = steps[turns.length] ?? { say: 'Done.' };
    turns.push(told);
    await step.first?.(told);
    const doing = 'say' in step ? { text: step.say } : { tool: step.tool, args: argsOf(step.with, told) };
    return protocol.answer(response, path, { id, tokens: step.tokens ?? FEW, ...doing });
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      failures.push(error);
      response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, turns, besides, failures };
}

export const argsOf = (given: ArgsOf, told: ModelRequest): Args => (typeof given === 'function' ? given(told) : given);

async function bodyOf(request: IncomingMessage): Promise<Args> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Args;
  } catch {
    return {};
  }
}

/** Sends all server-sent events in one write. */
export function sendEvents(response: ServerResponse, events: readonly Args[], { named = true } = {}): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const event of events) response.write(`${named ? `event: ${String(event.type)}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
  response.end();
}

export const sendJson = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Returns all texts in a value, which may be a text, a list of parts or an object. Cache instructions are left out. */
export function piecesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(piecesOf);
  const { text, cache_control: _, ...rest } = (value ?? {}) as Args;
  return typeof text === 'string' ? [text] : Object.keys(rest).length > 0 ? [JSON.stringify(rest)] : [];
}

export const textOf = (value: unknown): string => piecesOf(value).join('\n');
