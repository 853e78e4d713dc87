import { beginning } from '../../../kernel/excerpt.ts';
import { isRecord } from '../../../kernel/registry.ts';
import type { Exchange, Json } from '../../../kernel/relay.ts';

/**
 * What a server asks of a caller's client reaches it through us, beside questions of our own. So each says whose it is, in front and in
 * quotes, and by a key that is not ours.
 */

const MAX_CHARACTERS = 4_000;

/** On one line, and without what nobody sees: that could hide what follows, or turn it round. */
function plain(value: unknown): string {
  const text = typeof value === 'string' ? value.toWellFormed() : '';
  const spaced = text.replace(/[\s\p{Z}\u0085]+/gu, ' ').replace(/[\p{C}\p{DI}\u2800]/gu, '');
  return beginning(spaced.trim(), MAX_CHARACTERS);
}

const says = (server: string, text: unknown): string => `[${server}] asks: ${JSON.stringify(plain(text))}`;

/** The parameters of a question as a client may show them. */
export function attributed(server: string, method: string, params: Json): Json {
  const marked = { ...params, _meta: { ...(isRecord(params._meta) ? params._meta : {}), 'covenant/server': server } };
  if (method === 'elicitation/create') {
    const schema = isRecord(params.requestedSchema) ? { requestedSchema: attributedSchema(server, params.requestedSchema) } : {};
    return { ...marked, message: says(server, params.message), ...schema };
  }
  // For a model, so its words stay as they are; a person who is shown it sees first who wants it.
  if (method === 'sampling/createMessage') {
    const own = typeof params.systemPrompt === 'string' ? `\n${params.systemPrompt}` : '';
    return { ...marked, systemPrompt: `[${server}] asks for this; the words are that server's.${own}` };
  }
  return marked;
}

/** Each field is called by its title: ours has one that says what it approves. */
function attributedSchema(server: string, { properties, title: _, description: __, ...schema }: Json): Json {
  const fields = Object.entries(isRecord(properties) ? properties : {}).map(([name, field]) => {
    if (!isRecord(field)) return [name, field] as const;
    const title = `[${server}] ${plain(field.title ?? name)}`;
    return [name, { ...field, title, ...(field.description === undefined ? {} : { description: plain(field.description) }) }] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

/** Keys that could be one of ours, or one that we made of such: those get the server's name. The others are the server's own already. */
const AMBIGUOUS = /^covenant|:/i;
const prefixOf = (server: string): string => `${server}:`;
const keyOf = (server: string, key: string): string => (AMBIGUOUS.test(key) ? `${prefixOf(server)}${key}` : key);

/** What a server of the newer revision answers that wants input. */
export function askedBy(server: string, result: Json): Json {
  const requests = Object.entries(isRecord(result.inputRequests) ? result.inputRequests : {}).map(([key, request]) => {
    const { method, params } = (isRecord(request) ? request : {}) as { method?: unknown; params?: unknown };
    const shown = isRecord(request) && isRecord(params) ? { ...request, params: attributed(server, String(method), params) } : request;
    return [keyOf(server, key), shown] as const;
  });
  return { ...result, ...(result.inputRequests === undefined ? {} : { inputRequests: Object.fromEntries(requests) }) };
}

/** What the caller brings back, under the server's own keys. */
export function answersTo(server: string, exchange: Exchange): Exchange {
  const { rounds } = exchange;
  if (!rounds?.inputResponses) return exchange;
  const prefix = prefixOf(server);
  const own = Object.entries(rounds.inputResponses).map(([key, answer]) => [key.startsWith(prefix) ? key.slice(prefix.length) : key, answer] as const);
  return { ...exchange, rounds: { ...rounds, inputResponses: Object.fromEntries(own) } };
}
