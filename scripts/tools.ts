/**
 * `npm run docs`: writes the generated references in docs/, and test/published-tools.json. With --check, writes nothing and fails if one of them is out of
 * date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PublishedTool } from '../src/kernel/publish.ts';
import { publishedTools } from '../src/testing/catalogue.ts';
import { cliReference } from './cli-reference.ts';
import { configurationReference } from './configuration-reference.ts';
import { errorReference } from './error-reference.ts';

const tools = await publishedTools();
const files: Record<string, string> = {
  'docs/cli.md': await cliReference(),
  'docs/tools.md': reference(tools),
  'docs/errors.md': errorReference(),
  'docs/configuration.md': configurationReference(),
  'test/published-tools.json': `${JSON.stringify(tools.map(snapshot), null, 2)}\n`,
};
let stale = false;
for (const [name, text] of Object.entries(files)) {
  const path = fileURLToPath(new URL(`../${name}`, import.meta.url));
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (readOrNothing(path) !== text) {
    stale = true;
    process.stderr.write(`${name} is out of date. Run: npm run docs\n`);
  }
}
process.exitCode = stale ? 1 : 0;

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function snapshot({ name, title, description, toolset, annotations, inputSchema, outputSchema }: PublishedTool) {
  return { name, title, description, toolset, annotations, inputSchema, outputSchema };
}

function reference(all: readonly PublishedTool[]): string {
  const sections = [...Map.groupBy(all, (tool) => tool.toolset)].map(
    ([toolset, members]) => `## Toolset \`${toolset}\`\n\n${members.map(toolSection).join('\n')}`,
  );
  return `<!-- Written by \`npm run docs\` from the contracts. Do not edit. -->\n# Tools\n\nThe tools of a toolset are available at \`/mcp/<toolset>\`, and all tools at \`POST /api/mcp\`. To call the tool \`NAME\`, a caller needs the capability \`tool.call.NAME\`, or the capability of its toolset.\n\n${sections.join('\n')}`;
}

function toolSection(tool: PublishedTool): string {
  const { properties = {}, required = [] } = tool.inputSchema as {
    properties?: Record<string, { type?: string; enum?: string[]; description?: string }>;
    required?: string[];
  };
  const rows = Object.entries(properties).map(([field, schema]) => {
    const type = schema.enum ? schema.enum.join(', ') : (schema.type ?? 'any');
    return `| \`${field}\` | ${type} | ${required.includes(field) ? 'yes' : ''} | ${(schema.description ?? '').replaceAll('|', '\\|').replaceAll('\n', '<br>')} |`;
  });
  const table = rows.length > 0 ? `\n| field | type | required | |\n|---|---|---|---|\n${rows.join('\n')}\n` : '\nTakes no arguments.\n';
  return `### \`${tool.name}\`\n\n${tool.description}\n${table}`;
}
