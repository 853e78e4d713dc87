import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, replaceFile } from '../../wire/covibe-home.ts';
import { recordIn } from '../../wire/json.ts';

/** The content of `server.json`. The CLI reads this file to find the running server of a home. */
export interface RunFile {
  readonly url: string;
  readonly instance: string;
  readonly pid: number;
}

const runPath = (home: string) => join(home, 'server.json');
export const credentialsPath = (home: string): string => join(home, 'credentials.json');

/** Creates the home as a folder that only its owner can read. Writes config.toml and secrets.toml as templates that contain only comments. */
export function prepareHome(home: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeOnce(join(home, 'config.toml'), CONFIG_TEMPLATE);
  writeOnce(join(home, 'secrets.toml'), SECRETS_TEMPLATE);
}

const SECRETS_TEMPLATE = `# Secrets of this server. Only its owner may read this file (mode 0600).
# External MCP servers, one table each. $NAME is a variable in the environment of the server.
# [[mcp.server]]
# name    = "filesystem"
# command = "npx"
# args    = ["-y", "@modelcontextprotocol/server-filesystem", "$HOME/notes"]
# env     = { LOG_LEVEL = "info" }
`;

const CONFIG_TEMPLATE = `# Settings of this Covenant server. Options and environment variables take precedence.
# port = 3001                      # MCP_SERVER_PORT
# host = "127.0.0.1"
# database_url = "postgres://…"    # DATABASE_URL; default: SQLite in this folder
# log_level = "info"               # MCP_LOG_LEVEL: error, warn, info, debug
# tool_timeout_ms = 30000          # MCP_TOOL_TIMEOUT
# allowed_hosts = ["covenant.example"]
# allowed_origins = ["https://covenant.example"]
`;

function writeOnce(path: string, text: string): void {
  if (!existsSync(path)) writeFileSync(path, text, { mode: 0o600 });
}

export function readCredentials(home: string): string | undefined {
  const { token } = recordIn(readJson(credentialsPath(home)));
  return typeof token === 'string' ? token : undefined;
}

export function writeCredentials(home: string, token: string): void {
  replaceFile(credentialsPath(home), `${JSON.stringify({ token }, null, 2)}\n`);
}

export function readRunFile(home: string): RunFile | undefined {
  const { url, instance, pid } = recordIn(readJson(runPath(home)));
  return typeof url === 'string' && typeof instance === 'string' && typeof pid === 'number' ? { url, instance, pid } : undefined;
}

export function writeRunFile(home: string, run: RunFile): void {
  replaceFile(runPath(home), `${JSON.stringify(run)}\n`);
}

export function removeRunFile(home: string, instance: string): void {
  if (readRunFile(home)?.instance === instance) rmSync(runPath(home), { force: true });
}
