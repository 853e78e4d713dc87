import { beginning } from '../../../kernel/excerpt.ts';
import { isRecord } from '../../../kernel/registry.ts';
import type { Exchange, Json } from '../../../kernel/relay.ts';

/**
 * The parameters of a server's question as a client may show them. Questions of servers reach the client through us, beside our own, so each
 * says whose it is, in front and in quotes, and by a key that is not ours.
 */
export function attributeQuestion(server: string, method: string, params: Json): Json {
  const marked = { ...params, _meta: { ...(isRecord(params._meta) ? params._meta : {}), 'covenant/server': server } };
  if (method === 'elicitation/create') {
    const schema = isRecord(params.requestedSchema) ? { requestedSchema: attributeSchema(server, params.requestedSchema) } : {};
    return { ...marked, message: quoteQuestion(server, params.message), ...schema };
  }
  // For a model, so its words stay as they are; a person who is shown it sees first who wants it.
  if (method === 'sampling/createMessage') {
    const own = typeof params.systemPrompt === 'string' ? `\n${params.systemPrompt}` : '';
    return { ...marked, systemPrompt: `[${server}] asks for this; the words are that server's.${own}` };
  }
  return marked;
}

/** Each field is called by its title: ours has one that says what it approves. */
function attributeSchema(server: string, { properties, title: _, description: __, ...schema }: Json): Json {
  const fields = Object.entries(isRecord(properties) ? properties : {}).map(([name, field]) => {
    if (!isRecord(field)) return [name, field] as const;
    const title = `[${server}] ${plainLine(field.title ?? name)}`;
    return [name, { ...field, title, ...(field.description === undefined ? {} : { description: plainLine(field.description) }) }] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

const MAX_CHARACTERS = 4_000;

/** On one line, and without what nobody sees: that could hide what follows, or turn it round. */
function plainLine(value: unknown): string {
  const text = typeof value === 'string' ? value.toWellFormed() : '';
  const spaced = text.replace(/[\s\p{Z}\u0085]+/gu, ' ').replace(/[\p{C}\p{DI}\u2800]/gu, '');
  return beginning(spaced.trim(), MAX_CHARACTERS);
}

const quoteQuestion = (server: string, text: unknown): string => `[${server}] asks: ${JSON.stringify(plainLine(text))}`;

/** Keys that could be one of ours, or one that we made of such: those get the server's name. The others are the server's own already. */
const AMBIGUOUS = /^covenant|:/i;
const prefixOf = (server: string): string => `${server}:`;
const keyOf = (server: string, key: string): string => (AMBIGUOUS.test(key) ? `${prefixOf(server)}${key}` : key);

/** The answer of a server of the newer revision that wants input. */
export function attributeInputRequests(server: string, result: Json): Json {
  const requests = Object.entries(isRecord(result.inputRequests) ? result.inputRequests : {}).map(([key, request]) => {
    const { method, params } = (isRecord(request) ? request : {}) as { method?: unknown; params?: unknown };
    const attributed = isRecord(request) && isRecord(params) ? { ...request, params: attributeQuestion(server, String(method), params) } : request;
    return [keyOf(server, key), attributed] as const;
  });
  return { ...result, ...(result.inputRequests === undefined ? {} : { inputRequests: Object.fromEntries(requests) }) };
}

/** The answers that the caller brings back, under the server's own keys. */
export function answersUnderOwnKeys(server: string, exchange: Exchange): Exchange {
  const { rounds } = exchange;
  if (!rounds?.inputResponses) return exchange;
  const prefix = prefixOf(server);
  const own = Object.entries(rounds.inputResponses).map(([key, answer]) => [key.startsWith(prefix) ? key.slice(prefix.length) : key, answer] as const);
  return { ...exchange, rounds: { ...rounds, inputResponses: Object.fromEntries(own) } };
}
