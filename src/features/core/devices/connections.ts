import { bridgeEntry, indentedJson, tomlTable } from '../../../clients/config-entries.ts';
import { CLIENTS, type ClientName, type Snippet } from '../../../clients/index.ts';
import { shellQuoted } from '../../../wire/shell-quoted.ts';

/** The folder in which an agent's bridge runs, and the address of the server that it uses. */
interface ConnectionPlace {
  readonly baseUrl: string;
  readonly cwd: string;
}

export const overHttp = (client: ClientName, url: string, token: string): Snippet => CLIENTS[client].connection.http(url, token);

export function overStdio(client: ClientName, place: ConnectionPlace): Snippet {
  const { connection } = CLIENTS[client];
  const { at, value } = bridgeEntry(connection, place);
  return { where: connection.file, text: connection.format === 'toml' ? tomlTable(at, value) : indentedJson({ [at[0]]: { [at[1]]: value } }) };
}

export const installCommand = (packageRoot: string): string => `npm install --global ${shellQuoted(packageRoot.replace(/[\\/]+$/, ''))}`;

/**
 * Because of the parentheses, the shell reads the whole block before it asks for the token. Otherwise the next lines of the block
 * would be read as the token.
 */
export function setupBlock({ baseUrl, cwd }: ConnectionPlace, packageRoot: string): string {
  return `(
  set -e
  cd ${shellQuoted(cwd)}
  ${installCommand(packageRoot)}
  trap 'stty echo 2>/dev/null || true' EXIT INT
  printf 'Token (cv_...): '
  stty -echo 2>/dev/null || true
  read -r COVIBE_MCP_TOKEN
  stty echo 2>/dev/null || true
  echo
  export COVIBE_MCP_TOKEN
  covibe-local setup --base-url ${shellQuoted(baseUrl)}
  covibe-local doctor
)`;
}

export const watchCommand = (baseUrl: string): string => `covibe-local watch --base-url ${shellQuoted(baseUrl)}`;
