import { chmodSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { covibeHome, readJson, replaceFile } from './covibe-home.ts';
import { recordIn } from './json.ts';

/** The file with the tokens of this machine's agents: `{"tokens": {"claude-code": "cv_…"}}`. Only the device flow writes it. */
export const credentialsPath = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'credentials.json');

/** Whether an HTTP header can contain the value. Without this check, the error message of the HTTP client would quote the token. */
export const fitsHeader = (value: string): boolean => /^[\x21-\x7e]+$/.test(value);

/** The token in the environment. All agents that are started in this environment share it. */
export const environmentToken = (env: NodeJS.ProcessEnv): string | undefined => env.COVIBE_MCP_TOKEN?.trim() || undefined;

/** The error for an invalid token in the environment. An invalid token in the credentials file counts as missing instead. */
export const MALFORMED_TOKEN = {
  message: 'COVIBE_MCP_TOKEN contains characters that are not allowed in a token.',
  next: 'Set COVIBE_MCP_TOKEN to the token exactly as it was issued (cv_…), or unset it.',
} as const;

/** Returns the token of an agent. The file is read at each call, so that a new token is used without a restart. */
export function configuredToken(env: NodeJS.ProcessEnv, origin: string, agent: string | undefined = env.COVIBE_AGENT): string | undefined {
  return environmentToken(env) ?? (agent ? tokensFrom(env, origin)[agent] : undefined);
}

/** All tokens that a program in this environment could use for this server. */
export const tokensHere = (env: NodeJS.ProcessEnv, origin: string): string[] => [environmentToken(env) ?? [], Object.values(tokensFrom(env, origin))].flat();

interface Stored {
  readonly origin?: unknown;
  readonly tokens?: unknown;
  /** Tokens that other servers issued in earlier setups, by the origin of the server. */
  readonly others?: unknown;
}

/** Returns an empty object if the file is missing or broken. The call is then sent without a token, and the server's refusal says what to do. */
const stored = (env: NodeJS.ProcessEnv): Stored => recordIn(readJson(credentialsPath(env)));

/** The tokens that this server issued. No other server may see them. */
export function tokensFrom(env: NodeJS.ProcessEnv, origin: string): Record<string, string> {
  const { tokens, others } = stored(env);
  return tokensIn((storedOrigin(env) ?? origin) === origin ? tokens : recordIn(others)[origin]);
}

/** The server that issued the tokens of the last setup; undefined if it was not recorded. */
export function storedOrigin(env: NodeJS.ProcessEnv): string | undefined {
  const { origin } = stored(env);
  return typeof origin === 'string' ? origin : undefined;
}

/** The agents that have a token of any server on this machine. */
export function agentsWithTokens(env: NodeJS.ProcessEnv): string[] {
  const { tokens, others } = stored(env);
  return [...new Set([tokens, ...Object.values(recordIn(others))].flatMap((each) => Object.keys(tokensIn(each))))];
}

/** Adds tokens to the file. Tokens of other servers stay in the file, because agents of other repositories may use them. */
export function storeTokens(env: NodeJS.ProcessEnv, origin: string, tokens: Readonly<Record<string, string>>): void {
  const known = stored(env);
  const before = storedOrigin(env);
  const { [origin]: _, ...elsewhere } = recordIn(known.others);
  const others = before === undefined || before === origin ? elsewhere : { ...elsewhere, [before]: known.tokens };
  const next = { ...known, origin, tokens: { ...tokensFrom(env, origin), ...tokens }, others: Object.keys(others).length > 0 ? others : undefined };
  replaceFile(credentialsPath(env), `${JSON.stringify(next, null, 2)}\n`);
}

/** Makes the file readable by its owner only. */
export function closeCredentials(env: NodeJS.ProcessEnv): void {
  if (isOpenToOthers(env)) chmodSync(credentialsPath(env), 0o600);
}

export function isOpenToOthers(env: NodeJS.ProcessEnv): boolean {
  const file = credentialsPath(env);
  return existsSync(file) && (statSync(file).mode & 0o077) !== 0;
}

/** Returns the tokens by agent, excluding values that an HTTP header cannot contain. */
export const tokensIn = (tokens: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(recordIn(tokens)).flatMap(([agent, token]) => (typeof token === 'string' && fitsHeader(token.trim()) ? [[agent, token.trim()]] : [])),
  );
