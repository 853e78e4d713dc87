import { beginning } from '../../../kernel/excerpt.ts';
import { isRecord } from '../../../kernel/registry.ts';
import type { Exchange, Json } from '../../../kernel/relay.ts';

/**
 * Marks a question with the server that asked it. Clients show questions of external servers in the same way as Covenant's own questions, so
 * people must see the difference: the question begins with the name of the server and quotes the text of the server.
 */
export function attributeQuestion(server: string, method: string, params: Json): Json {
  const marked = { ...params, _meta: { ...(isRecord(params._meta) ? params._meta : {}), 'covenant/server': server } };
  if (method === 'elicitation/create') {
    const schema = isRecord(params.requestedSchema) ? { requestedSchema: attributeSchema(server, params.requestedSchema) } : {};
    return { ...marked, message: quoteQuestion(server, params.message), ...schema };
  }
  // A model answers sampling requests, so their text is not quoted. The system prompt begins with the server, for people who review requests.
  if (method === 'sampling/createMessage') {
    const own = typeof params.systemPrompt === 'string' ? `\n${params.systemPrompt}` : '';
    return { ...marked, systemPrompt: `[${server}] sent this request; the text is from that server.${own}` };
  }
  return marked;
}

/** Adds the server to the title of each field, because clients show the title. Otherwise a field could look like one of Covenant's approvals. */
function attributeSchema(server: string, { properties, title: _, description: __, ...schema }: Json): Json {
  const fields = Object.entries(isRecord(properties) ? properties : {}).map(([name, field]) => {
    if (!isRecord(field)) return [name, field] as const;
    const title = `[${server}] ${plainLine(field.title ?? name)}`;
    return [name, { ...field, title, ...(field.description === undefined ? {} : { description: plainLine(field.description) }) }] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

const MAX_CHARACTERS = 4_000;

/** Puts the text on one line and removes invisible characters, because they could hide or reverse the text that follows them. */
function plainLine(value: unknown): string {
  const text = typeof value === 'string' ? value.toWellFormed() : '';
  const spaced = text.replace(/[\s\p{Z}\u0085]+/gu, ' ').replace(/[\p{C}\p{DI}\u2800]/gu, '');
  return beginning(spaced.trim(), MAX_CHARACTERS);
}

const quoteQuestion = (server: string, text: unknown): string => `[${server}] asks: ${JSON.stringify(plainLine(text))}`;

/** A key gets the name of the server as a prefix if it looks like a key of Covenant or could already have a prefix. Other keys stay unchanged. */
const AMBIGUOUS = /^covenant|:/i;
const prefixOf = (server: string): string => `${server}:`;
const keyOf = (server: string, key: string): string => (AMBIGUOUS.test(key) ? `${prefixOf(server)}${key}` : key);

/** Marks the questions in the answer of a server that requires input. Only servers with the newer protocol revision send such answers. */
export function attributeInputRequests(server: string, result: Json): Json {
  const requests = Object.entries(isRecord(result.inputRequests) ? result.inputRequests : {}).map(([key, request]) => {
    const { method, params } = (isRecord(request) ? request : {}) as { method?: unknown; params?: unknown };
    const attributed = isRecord(request) && isRecord(params) ? { ...request, params: attributeQuestion(server, String(method), params) } : request;
    return [keyOf(server, key), attributed] as const;
  });
  return { ...result, ...(result.inputRequests === undefined ? {} : { inputRequests: Object.fromEntries(requests) }) };
}

/** Removes the prefixes that `attributeInputRequests` added, so that the server gets the caller's answers under its own keys. */
export function answersUnderOwnKeys(server: string, exchange: Exchange): Exchange {
  const { rounds } = exchange;
  if (!rounds?.inputResponses) return exchange;
  const prefix = prefixOf(server);
  const own = Object.entries(rounds.inputResponses).map(([key, answer]) => [key.startsWith(prefix) ? key.slice(prefix.length) : key, answer] as const);
  return { ...exchange, rounds: { ...rounds, inputResponses: Object.fromEntries(own) } };
}
