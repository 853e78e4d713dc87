import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type Args = Readonly<Record<string, unknown>>;

/** What a client sends to its model in one request. */
export interface Request {
  /** The offered tools, by the names the model must use. */
  readonly tools: readonly string[];
  /** The answers of its tools in this conversation, oldest first. */
  readonly results: readonly string[];
  /** Everything else, piece by piece. Context from hooks is somewhere in here, wherever the client puts it. */
  readonly pieces: readonly string[];
}

export interface ModelRequest extends Request {
  /** The text that earlier requests did not contain. */
  readonly added: string;
}

/** The model's next action: it calls a tool, with arguments that may depend on what it received, or it answers and ends. */
export type Step = ({ readonly tool: string; readonly with: ArgsOf } | { readonly say: string }) & {
  /** Runs before the action. */
  readonly first?: (told: ModelRequest) => unknown;
  /** The length of the conversation, in tokens, as the model reports it to the client. */
  readonly tokens?: number;
};
export type ArgsOf = Args | ((told: ModelRequest) => Args);

/** A step in the provider's wire format. */
export type Said = ({ readonly tool: string; readonly args: Args } | { readonly text: string }) & { readonly id: string; readonly tokens: number };

/** The protocol of one provider's models. */
export interface Protocol {
  /** Whether the request continues the agent's own conversation. Clients also ask for titles and similar things. */
  isTurn(path: string, body: Args): boolean;
  read(body: Args): Request;
  answer(response: ServerResponse, path: string, said: Said): void;
}

const FEW = 10;

export interface Model {
  readonly url: string;
  /** The turns of the conversation, as the client sent them. */
  readonly turns: readonly ModelRequest[];
  /** Requests to other paths, or outside the conversation. */
  readonly besides: readonly string[];
  /** Errors in the test's own steps. */
  readonly failures: readonly unknown[];
}

/** A model that follows the test's steps, on its own port until the test ends. After its last step it answers that it is done. */
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

/** Server-sent events, all in one write. */
export function sendEvents(response: ServerResponse, events: readonly Args[], { named = true } = {}): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const event of events) response.write(`${named ? `event: ${String(event.type)}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
  response.end();
}

export const sendJson = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** The texts in a text, a list of parts or anything else, without cache instructions. */
export function piecesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(piecesOf);
  const { text, cache_control: _, ...rest } = (value ?? {}) as Args;
  return typeof text === 'string' ? [text] : Object.keys(rest).length > 0 ? [JSON.stringify(rest)] : [];
}

export const textOf = (value: unknown): string => piecesOf(value).join('\n');
