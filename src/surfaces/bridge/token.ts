import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The token that the agent put among the arguments, and the arguments as the tool knows them. */
export function takeToken(args: Record<string, unknown>): { given: string | undefined; rest: Record<string, unknown> } {
  // Anything but a string is no token: the server refuses it by name, like every unknown field.
  if (typeof args.token !== 'string') return { given: undefined, rest: args };
  const { token, ...rest } = args;
  return { given: token as string, rest };
}

/** Read at every call: a token that setup writes later is used without a restart. */
export function configuredToken(env: NodeJS.ProcessEnv): string | undefined {
  return env.COVIBE_MCP_TOKEN?.trim() || typedToken(env);
}

function typedToken(env: NodeJS.ProcessEnv): string | undefined {
  if (!env.COVIBE_AGENT) return undefined;
  try {
    const file = readFileSync(join(env.HOME || homedir(), '.covibe', 'credentials.json'), 'utf8');
    const { tokens } = JSON.parse(file) as { tokens?: Record<string, unknown> };
    const token = tokens?.[env.COVIBE_AGENT];
    return typeof token === 'string' ? token.trim() : undefined;
  } catch {
    // Missing or broken: without a token the server says what is missing. The parser's message would quote the file.
    return undefined;
  }
}
