/** docs/errors.md: every error code with its explanation, and each message and next step that the source gives with it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { ERROR_CODE_GROUPS, ERROR_CODES } from '../src/surfaces/cli/error-codes/index.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

export interface Message {
  readonly code: string;
  readonly file: string;
  /** Templates: a value of the moment stands as `{name}`. Undefined where the text is put together elsewhere. */
  readonly message: string | undefined;
  readonly next: string | undefined;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const CODE = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/;
/** Calls that take a code, a message and a next step, in this order. */
const GIVING = /^(Refusal|CliError|TransferRefused|refused|refusal|notFound|block|say\.failed|say\.warning)$/;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

const childrenOf = (node: Node): Node[] => Object.values(node).flatMap((value) => (Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []));

const stringOf = (node: Node | undefined): string | undefined => (node?.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined);

/** Every error code in the source of the product, with the texts beside it. */
export function messagesInSource(): Message[] {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((path) => !/\.test\.ts$|^src\/(testing|surfaces\/(demo-agents|cli\/error-codes))\//.test(path));
  return files.sort().flatMap((file) => messagesIn(file, readFileSync(join(root, file), 'utf8')));
}

function messagesIn(file: string, source: string): Message[] {
  const found: Message[] = [];
  const texts = new Map<string, Node>();
  const visit = (node: Node) => {
    const given = argumentsOf(node, source);
    const place = given.slice(0, 2).findIndex((each) => codeOf(each, texts) !== undefined);
    if (place >= 0) {
      const [message, next] = given.slice(place + 1).map((each) => textOf(each, source, texts));
      found.push({ code: codeOf(given[place], texts) as string, file, message, next });
    } else {
      found.push(...namedIn(node).map((code) => ({ code, file, message: undefined, next: undefined })));
    }
    childrenOf(node).forEach(visit);
  };
  // Constants are collected first: a text may be declared below the place that gives it.
  const collect = (node: Node) => {
    if (node.type === 'VariableDeclarator' && isNode(node.init)) texts.set(String((node.id as Node).name), node.init);
    childrenOf(node).forEach(collect);
  };
  const program = parseAst(source, { lang: 'ts' }) as unknown as Node;
  collect(program);
  visit(program);
  return found;
}

const argumentsOf = (node: Node, source: string): Node[] =>
  (node.type === 'CallExpression' || node.type === 'NewExpression') && GIVING.test(source.slice((node.callee as Node).start, (node.callee as Node).end))
    ? (node.arguments as Node[])
    : [];

/** Codes outside of those calls: in a field `code`, at the head of a row with its texts, or wherever a known code is compared. */
function namedIn(node: Node): string[] {
  const codes = childrenOf(node).flatMap((each) => stringOf(each) ?? []);
  const isField =
    node.type === 'Property' && (node.key as Node).name === 'code' && codes.every((code) => /^[A-Z_]+$/.test(code) && !/^E(NOTDIR|RR_)/.test(code));
  const isRow = node.type === 'ArrayExpression' && codes.slice(1).some((text) => text.includes(' '));
  return codes.filter((code, at) => code in ERROR_CODES || isField || (isRow && at === 0 && CODE.test(code)));
}

/** `refused` and `refusal` take a status before the code. Only there a code may be a single word. */
function codeOf(given: Node | undefined, texts: ReadonlyMap<string, Node>): string | undefined {
  const fallback = given?.type === 'LogicalExpression' ? (given.right as Node) : given;
  const text = stringOf(fallback?.type === 'Identifier' ? texts.get(String(fallback.name)) : fallback);
  return text !== undefined && /^[A-Z][A-Z0-9_]+$/.test(text) ? text : undefined;
}

function textOf(node: Node | undefined, source: string, texts: ReadonlyMap<string, Node>, depth = 0): string | undefined {
  if (!node || depth > 4) return undefined;
  const inner = (each: unknown) => textOf(each as Node, source, texts, depth + 1);
  if (node.type === 'Literal') return stringOf(node);
  if (node.type === 'TemplateLiteral') {
    const values = node.expressions as Node[];
    return (node.quasis as { value: { cooked: string } }[])
      .map(({ value }, at) => value.cooked + (values[at] ? placeholder(values[at], source, texts) : ''))
      .join('');
  }
  if (node.type === 'BinaryExpression')
    return [inner(node.left), inner(node.right)].every((part) => part !== undefined) ? `${inner(node.left)}${inner(node.right)}` : undefined;
  if (node.type === 'ConditionalExpression') return [inner(node.consequent), inner(node.alternate)].filter(Boolean).join(' / ') || undefined;
  if (node.type === 'Identifier') return inner(texts.get(String(node.name)));
  return undefined;
}

/** `{task name}` for `JSON.stringify(task.name)`; a constant text as it is. */
function placeholder(node: Node, source: string, texts: ReadonlyMap<string, Node>): string {
  const known = node.type === 'Identifier' ? textOf(node, source, texts, 3) : undefined;
  if (known !== undefined) return known;
  const names = source.slice(node.start, node.end).match(/[A-Za-z_][\w.]*/g) ?? [];
  return `{${(names.filter((name) => !/^(JSON|Math|String|Number|new|inQuotes|counted)\b/.test(name))[0] ?? 'value').split('.').slice(-2).join(' ').toLowerCase().replaceAll('_', ' ')}}`;
}

export function errorReference(): string {
  const messages = Map.groupBy(messagesInSource(), ({ code }) => code);
  const titles = Object.keys(ERROR_CODE_GROUPS);
  const contents = titles.map((title) => `- [${title.replaceAll('`', '')}](#${anchorOf(title)})`);
  const sections = Object.entries(ERROR_CODE_GROUPS).map(([title, codes]) =>
    [
      `## ${title}`,
      ...Object.entries(codes).map(
        ([code, { meaning, cause, next }]) => `### ${code}\n\n${meaning}\n\n- **Cause:** ${cause}\n- **Next:** ${next}\n${saidWith(messages.get(code) ?? [])}`,
      ),
    ].join('\n\n'),
  );
  return `<!-- Written by \`npm run docs\` from the source. Do not edit. -->
# Error codes

Every refusal, warning and finding has a stable code, a message and a next step. \`covenant explain CODE\` prints the entry of a code.
The messages below each code are those of the source; \`<name>\` stands for a value of the moment.

${contents.join('\n')}

${sections.join('\n')}`;
}

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-');

function saidWith(messages: readonly Message[]): string {
  const lines = messages.flatMap(({ message, next }) => (message === undefined ? [] : [`  - ${inline(message)}${next ? ` → ${inline(next)}` : ''}`]));
  return lines.length === 0 ? '' : `- **Messages:**\n${[...new Set(lines)].join('\n')}\n`;
}

const inline = (text: string): string => text.replaceAll('\n', ' ').replaceAll('|', '\\|').replaceAll('*', '\\*');
