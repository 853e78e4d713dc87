/** Writes the text of docs/configuration.md, which lists every setting, environment variable and workspace setting, from their definitions. */
import { z } from 'zod';
import { CLIENT_VARIABLES } from '../src/clients/environment.ts';
import { defaultsIn, ENVIRONMENT, SETTINGS } from '../src/config.ts';
import { DEFINITIONS, type SettingDefinition } from '../src/features/core/settings/contract.ts';
import { SERVER_ENTRY } from '../src/features/gateway/servers/check-entry.ts';
import { ENVIRONMENT_VARIABLES } from '../src/wire/environment.ts';

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

const HOME = '~/.covenant';
/** Stands for a key that the operator chooses, such as the name of a launcher. */
const NAMED = 'NAME';

export function configurationReference(): string {
  const sections: readonly (readonly [title: string, text: string])[] = [
    ['config.toml', configToml()],
    ['secrets.toml', secretsToml()],
    ['Environment variables', environmentVariables()],
    ['Workspace settings', workspaceSettings()],
  ];
  const contents = sections.map(([title]) => `- [${title}](#${anchorOf(title)})`).join('\n');
  const body = sections.map(([title, text]) => `## ${title}\n\n${text}`).join('\n\n');
  return `<!-- Written by \`npm run docs\` from the source. Do not edit. -->\n# Configuration\n\n${contents}\n\n${body}\n`;
}

function configToml(): string {
  const schema = z.toJSONSchema(SETTINGS, { io: 'output', unrepresentable: 'any' }) as JsonSchema;
  const variables = new Map(Object.entries(ENVIRONMENT).map(([name, key]) => [key as string, name]));
  const rows = settingsIn(schema, '', defaultsIn(HOME)).map(({ key, schema: one, initial }) => {
    const variable = variables.get(key);
    return [code(key), typeOf(one), defaultOf(initial), boundsOf(one), sentence(key, one) + (variable ? ` Environment: ${code(variable)}.` : '')];
  });
  return `Put these settings into the file \`config.toml\` in the home (\`${HOME}\`, or the folder in \`COVENANT_HOME\`). The server reads this file only when
it starts. The options \`--host\` and \`--port\` of \`covenant up\` take precedence over environment variables, and environment variables take precedence over
the file. In this table, a dot separates a TOML table from its key: \`approvals.deadline_s\` is the key \`deadline_s\` under \`[approvals]\`. The settings under
\`limits\` are maximum values, except those that set a lifetime.

${table(['setting', 'type', 'default', 'bounds', 'meaning'], rows)}`;
}

/** Explains the keys of an `[[mcp.server]]` table. If a key is missing here, or no longer exists, this script fails. */
const ENTRY_KEYS: Readonly<Record<string, string>> = {
  name: 'The name of the server. Its tools are published as `NAME_TOOL`.',
  command: 'The program to start, which speaks MCP over standard input and output. Use either `command` or `url`.',
  args: 'The arguments of the program. No shell interprets them.',
  env: "Environment variables to set for the program. Of the server's own variables, the program gets only a basic set, such as `PATH` and `HOME`.",
  cwd: 'The working folder of the program. A relative path begins at the home.',
  url: 'The address of a server that speaks Streamable HTTP. Use either `command` or `url`.',
  headers: 'HTTP headers to send to `url`.',
  enabled: '`false`: Covenant does not start the server, and publishes none of its tools and prompts.',
  prefix: '`false`: tools and prompts are published under their own names, without `NAME_`.',
  include: 'The tools and prompts to publish, by their own names (without `NAME_`). Default: all.',
  exclude: 'The tools and prompts not to publish, by their own names (without `NAME_`).',
  lazy: '`true`: as soon as the tools of the server are known, Covenant starts it only when a call needs it.',
  workspaces: 'The workspaces that may use the server. `"*"` means every workspace.',
  timeout_s: 'How many seconds a call of this server may take. Default: the value of `tool_timeout_ms`.',
  protocol: 'The protocol era that the server supports. Set it only if `auto` does not detect the right one.',
};

function secretsToml(): string {
  const schema = z.toJSONSchema(SERVER_ENTRY, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const keys = Object.entries(schema.properties ?? {});
  const different = [...keys.map(([key]) => key), ...Object.keys(ENTRY_KEYS)].filter((key) => !(key in ENTRY_KEYS) || !keys.some(([one]) => one === key));
  if (different.length > 0)
    throw new Error(`ENTRY_KEYS in scripts/configuration-reference.ts does not match the keys of [[mcp.server]]: ${different.join(', ')}`);
  const rows = keys.map(([key, one]) => [
    code(key),
    typeOf(one),
    schema.required?.includes(key) ? 'required' : defaultOf(one.default),
    boundsOf(one),
    ENTRY_KEYS[key] as string,
  ]);
  return `Put these settings into the file \`secrets.toml\` in the home. Only its owner may be able to read the file (mode 0600). Each \`[[mcp.server]]\` table
describes one external MCP server: see [the gateway](gateway.md). In values, \`$NAME\` and \`\${NAME}\` are replaced with the environment variable of that name.
When the file changes, Covenant reads it again.

${table(['key', 'type', 'default', 'bounds', 'meaning'], rows)}`;
}

function environmentVariables(): string {
  return Object.entries({ ...ENVIRONMENT_VARIABLES, 'Agent programs': CLIENT_VARIABLES })
    .map(([group, variables]) => {
      const rows = variables.map(({ name, programs, default: fallback, meaning }) => [code(name), programs.map(code).join(', '), fallback ?? '', meaning]);
      return `### ${group}\n\n${table(['variable', 'read by', 'default', 'meaning'], rows)}`;
    })
    .join('\n\n');
}

function workspaceSettings(): string {
  const rows = Object.entries<SettingDefinition>(DEFINITIONS).map(([key, { title, default: initial, min, max, whole, switch: meaning }]) =>
    meaning
      ? [code(key), 'on or off', initial === 1 ? '`on`' : '`off`', '', `${title}. On: ${meaning.on} Off: ${meaning.off}`]
      : [code(key), whole ? 'integer' : 'number', initial === null ? 'not set' : code(String(initial)), `${min} to ${max}`, `${title}.`],
  );
  return `Each workspace has its own values for these settings. To show them, run \`covenant settings list\`. To change a setting, run \`covenant settings set
NAME VALUE\`. To go back to the default, run \`covenant settings set NAME default\`. A change applies from the next call on.

${table(['setting', 'type', 'default', 'bounds', 'meaning'], rows)}`;
}

interface Setting {
  readonly key: string;
  readonly schema: JsonSchema;
  readonly initial: unknown;
}

/** Lists the settings that a schema contains, each with its dotted key. */
function settingsIn(schema: JsonSchema, prefix: string, defaults: unknown): Setting[] {
  const below = (key: string, one: JsonSchema, initial: unknown) => settingsIn(one, prefix === '' ? key : `${prefix}.${key}`, initial);
  if (schema.properties) {
    return Object.entries(schema.properties).flatMap(([key, one]) =>
      below(key, one, (defaults as Readonly<Record<string, unknown>> | undefined)?.[key] ?? one.default),
    );
  }
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object' && schema.description === undefined)
    return below(NAMED, schema.additionalProperties, undefined);
  if (schema.anyOf?.every((one) => one.properties)) return schema.anyOf.flatMap((one) => settingsIn(one, prefix, defaults));
  return [{ key: prefix, schema, initial: defaults }];
}

function sentence(key: string, { description }: JsonSchema): string {
  if (description === undefined) throw new Error(`the setting ${key} has no description: add .describe() in src/config.ts`);
  return description;
}

function typeOf({ type, enum: values, const: only, items, format, additionalProperties }: JsonSchema): string {
  if (values) return values.map((one) => code(JSON.stringify(one))).join(', ');
  if (only !== undefined) return code(JSON.stringify(only));
  if (type === 'array') return `list of ${items ? plural(typeOf(items)) : 'values'}`;
  if (type === 'object' && typeof additionalProperties === 'object') return `table of ${plural(typeOf(additionalProperties))}`;
  return format === 'uri' ? 'URL' : (type ?? 'any');
}

const plural = (type: string): string => `${type}s`;

function boundsOf({ type, minimum, maximum, exclusiveMinimum, minLength, maxLength, minItems, maxItems, enum: values }: JsonSchema): string {
  if (values) return '';
  if (type === 'array') return maxItems !== undefined ? `at most ${maxItems} entries` : minItems !== undefined ? `at least ${minItems}` : '';
  if (type === 'string') return maxLength !== undefined ? `at most ${maxLength} characters` : minLength !== undefined ? 'not empty' : '';
  if (exclusiveMinimum !== undefined && maximum !== undefined) return `more than ${exclusiveMinimum}, at most ${maximum}`;
  return minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : '';
}

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : typeof value === 'object' && value !== null && Object.keys(value).length === 0;
const defaultOf = (value: unknown): string => (value === undefined || isEmpty(value) ? '' : code(typeof value === 'string' ? value : JSON.stringify(value)));
const code = (text: string): string => `\`${text}\``;
const anchorOf = (title: string): string => title.toLowerCase().replaceAll(' ', '-').replaceAll('.', '');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`).join('\n');
