import { beginning } from '../../../kernel/excerpt.ts';
import { isRecord } from '../../../kernel/registry.ts';
import type { Exchange, Json } from '../../../kernel/relay.ts';

/**
 * The parameters of a server's question as a client may show them. Clients show such questions next to Covenant's own. So each question
 * begins with the name of its server, and the server's text is in quotes.
 */
export function attributeQuestion(server: string, method: string, params: Json): Json {
  const marked = { ...params, _meta: { ...(isRecord(params._meta) ? params._meta : {}), 'covenant/server': server } };
  if (method === 'elicitation/create') {
    const schema = isRecord(params.requestedSchema) ? { requestedSchema: attributeSchema(server, params.requestedSchema) } : {};
    return { ...marked, message: quoteQuestion(server, params.message), ...schema };
  }
  // Sampling goes to a model, so its text stays unchanged. A person who sees it reads first which server sent it.
  if (method === 'sampling/createMessage') {
    const own = typeof params.systemPrompt === 'string' ? `\n${params.systemPrompt}` : '';
    return { ...marked, systemPrompt: `[${server}] sent this request; the text is from that server.${own}` };
  }
  return marked;
}

/** Clients show each field by its title. Covenant's own question has a field whose title says what it approves. */
function attributeSchema(server: string, { properties, title: _, description: __, ...schema }: Json): Json {
  const fields = Object.entries(isRecord(properties) ? properties : {}).map(([name, field]) => {
    if (!isRecord(field)) return [name, field] as const;
    const title = `[${server}] ${plainLine(field.title ?? name)}`;
    return [name, { ...field, title, ...(field.description === undefined ? {} : { description: plainLine(field.description) }) }] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

const MAX_CHARACTERS = 4_000;

/** One line without invisible characters, which could hide or reverse the text after them. */
function plainLine(value: unknown): string {
  const text = typeof value === 'string' ? value.toWellFormed() : '';
  const spaced = text.replace(/[\s\p{Z}\u0085]+/gu, ' ').replace(/[\p{C}\p{DI}\u2800]/gu, '');
  return beginning(spaced.trim(), MAX_CHARACTERS);
}

const quoteQuestion = (server: string, text: unknown): string => `[${server}] asks: ${JSON.stringify(plainLine(text))}`;

/** Keys that could be Covenant's own, or were prefixed before, get the server's name. Other keys stay unchanged. */
const AMBIGUOUS = /^covenant|:/i;
const prefixOf = (server: string): string => `${server}:`;
const keyOf = (server: string, key: string): string => (AMBIGUOUS.test(key) ? `${prefixOf(server)}${key}` : key);

/** The answer of a newer-revision server that requires input. */
export function attributeInputRequests(server: string, result: Json): Json {
  const requests = Object.entries(isRecord(result.inputRequests) ? result.inputRequests : {}).map(([key, request]) => {
    const { method, params } = (isRecord(request) ? request : {}) as { method?: unknown; params?: unknown };
    const attributed = isRecord(request) && isRecord(params) ? { ...request, params: attributeQuestion(server, String(method), params) } : request;
    return [keyOf(server, key), attributed] as const;
  });
  return { ...result, ...(result.inputRequests === undefined ? {} : { inputRequests: Object.fromEntries(requests) }) };
}

/** The answers of the caller, under the server's own keys. */
export function answersUnderOwnKeys(server: string, exchange: Exchange): Exchange {
  const { rounds } = exchange;
  if (!rounds?.inputResponses) return exchange;
  const prefix = prefixOf(server);
  const own = Object.entries(rounds.inputResponses).map(([key, answer]) => [key.startsWith(prefix) ? key.slice(prefix.length) : key, answer] as const);
  return { ...exchange, rounds: { ...rounds, inputResponses: Object.fromEntries(own) } };
}
