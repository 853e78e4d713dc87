import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, replaceFile } from '../../wire/covibe-home.ts';

/** The file in a home by which the CLI finds the running server. */
const runFile = z.object({ url: z.string(), instance: z.string(), pid: z.number() });
export type RunFile = z.output<typeof runFile>;

const credentials = z.object({ token: z.string() });

const runPath = (home: string) => join(home, 'server.json');
export const credentialsPath = (home: string): string => join(home, 'credentials.json');

/** Makes the home, readable by its owner alone, with files that explain themselves. */
export function prepareHome(home: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeOnce(join(home, 'config.toml'), CONFIG_TEMPLATE);
  writeOnce(join(home, 'secrets.toml'), SECRETS_TEMPLATE);
}

const SECRETS_TEMPLATE = `# Secrets of this server. Only its owner may read this file (mode 0600).
# External MCP servers, one table each; $NAME stands for a variable of the server's environment.
# [[mcp.server]]
# name    = "filesystem"
# command = "npx"
# args    = ["-y", "@modelcontextprotocol/server-filesystem", "$HOME/notes"]
# env     = { LOG_LEVEL = "info" }
`;

const CONFIG_TEMPLATE = `# Settings of this Covenant server. Flags and environment variables beat this file.
# port = 3001                      # MCP_SERVER_PORT
# host = "127.0.0.1"
# database_url = "postgres://…"    # DATABASE_URL; SQLite in this folder where it is not set
# log_level = "info"               # MCP_LOG_LEVEL: error, warn, info, debug
# tool_timeout_ms = 30000          # MCP_TOOL_TIMEOUT
# allowed_hosts = ["covenant.example"]
# allowed_origins = ["https://covenant.example"]
`;

function writeOnce(path: string, text: string): void {
  if (!existsSync(path)) writeFileSync(path, text, { mode: 0o600 });
}

export function readCredentials(home: string): string | undefined {
  const parsed = credentials.safeParse(readJson(credentialsPath(home)));
  return parsed.success ? parsed.data.token : undefined;
}

export function writeCredentials(home: string, token: string): void {
  replaceFile(credentialsPath(home), `${JSON.stringify({ token }, null, 2)}\n`);
}

export function readRunFile(home: string): RunFile | undefined {
  const parsed = runFile.safeParse(readJson(runPath(home)));
  return parsed.success ? parsed.data : undefined;
}

export function writeRunFile(home: string, run: RunFile): void {
  replaceFile(runPath(home), `${JSON.stringify(run)}\n`);
}

export function removeRunFile(home: string, instance: string): void {
  if (readRunFile(home)?.instance === instance) rmSync(runPath(home), { force: true });
}
