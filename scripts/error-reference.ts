/**
 * Writes the text of docs/errors.md. It lists every error code with its explanation, and each message and next step that the source code uses with this code.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { ERROR_CODE_GROUPS, ERROR_CODES } from '../src/surfaces/cli/error-codes/index.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

export interface Message {
  readonly code: string;
  readonly file: string;
  /** The text, with `{name}` for a value that is inserted at run time. Undefined if the text is not written next to the code. */
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
/** The functions and classes that take a code, a message and a next step, in this order. */
const GIVING = /^(Refusal|CliError|TransferRefused|refused|refusal|notFound|block|say\.failed|say\.warning)$/;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

const childrenOf = (node: Node): Node[] => Object.values(node).flatMap((value) => (Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []));

const stringOf = (node: Node | undefined): string | undefined => (node?.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined);

/** Finds every use of an error code in the source of the product, with the message and next step that are written next to it. */
export function messagesInSource(): Message[] {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((path) => !/\.test\.ts$|^src\/(testing|surfaces\/(demo-agents|cli\/error-codes))\//.test(path));
  return files.sort().flatMap((file) => messagesIn(file, readFileSync(join(root, file), 'utf8')));
}

export function messagesIn(file: string, source: string): Message[] {
  const found: Message[] = [];
  const visit = (node: Node, outer: Scope | undefined) => {
    const scope: Scope = { names: declaredBy(node), outer };
    const given = argumentsOf(node, source);
    const place = given.slice(0, 2).findIndex((each) => codeOf(each, scope) !== undefined);
    if (place >= 0) {
      const [message, next] = given.slice(place + 1).map((each) => textOf(each, scope));
      found.push({ code: codeOf(given[place], scope) as string, file, message, next });
    } else {
      found.push(...namedIn(node).map((code) => ({ code, file, message: undefined, next: undefined })));
    }
    for (const child of childrenOf(node)) visit(child, scope);
  };
  visit(parseAst(source, { lang: 'ts' }) as unknown as Node, undefined);
  return found;
}

/** The names that one node declares. `outer` is the scope of the nodes around it. */
interface Scope {
  /** Each name with its initial value. The value is null for parameters and destructured names. */
  readonly names: ReadonlyMap<string, Node | null>;
  readonly outer: Scope | undefined;
}

interface Declaration {
  readonly init: Node | null;
  readonly scope: Scope;
}

/** Collects the declarations of a node. This happens before the node is read, because a text may be declared below the place that uses it. */
function declaredBy(node: Node): Map<string, Node | null> {
  const names = new Map<string, Node | null>();
  const parameters = [node.params, node.type === 'CatchClause' ? node.param : []].flat().filter(isNode);
  for (const name of parameters.flatMap(namesIn)) names.set(name, null);
  const statements = [node.body, node.init, node.left, node.type === 'SwitchCase' ? node.consequent : []].flat().filter(isNode);
  for (const statement of statements) {
    const { type, declarations } = isNode(statement.declaration) ? statement.declaration : statement;
    if (type !== 'VariableDeclaration') continue;
    for (const { id, init } of declarations as { id: Node; init: Node | null }[])
      for (const name of namesIn(id)) names.set(name, id.type === 'Identifier' ? init : null);
  }
  return names;
}

/** Returns the names that a binding such as `{ a, b: [c] }` declares. */
function namesIn(binding: Node): string[] {
  if (binding.type === 'Identifier') return [String(binding.name)];
  const parts = [binding.properties, binding.elements, binding.value, binding.argument, binding.left, binding.parameter];
  return parts.flat().filter(isNode).flatMap(namesIn);
}

/** Returns the declaration of a name in this file. Undefined if the name is imported. */
function declarationOf(name: unknown, scope: Scope | undefined): Declaration | undefined {
  if (scope === undefined) return undefined;
  const init = scope.names.get(String(name));
  return init === undefined ? declarationOf(name, scope.outer) : { init, scope };
}

const argumentsOf = (node: Node, source: string): Node[] =>
  (node.type === 'CallExpression' || node.type === 'NewExpression') && GIVING.test(source.slice((node.callee as Node).start, (node.callee as Node).end))
    ? (node.arguments as Node[])
    : [];

/**
 * Finds codes that are not arguments of those calls: in a field `code`, as the first element of an array with texts, or anywhere else if the code is listed in
 * ERROR_CODES.
 */
function namedIn(node: Node): string[] {
  const codes = childrenOf(node).flatMap((each) => stringOf(each) ?? []);
  const isField =
    node.type === 'Property' && (node.key as Node).name === 'code' && codes.every((code) => /^[A-Z_]+$/.test(code) && !/^E(NOTDIR|RR_)/.test(code));
  const isRow = node.type === 'ArrayExpression' && codes.slice(1).some((text) => text.includes(' '));
  return codes.filter((code, at) => code in ERROR_CODES || isField || (isRow && at === 0 && CODE.test(code)));
}

/** Returns the code if this argument is one. For `refused` and `refusal`, the code is the second argument, after a status. */
function codeOf(given: Node | undefined, scope: Scope): string | undefined {
  const fallback = given?.type === 'LogicalExpression' ? (given.right as Node) : given;
  const text = stringOf(fallback?.type === 'Identifier' ? (declarationOf(fallback.name, scope)?.init ?? undefined) : fallback);
  return text !== undefined && /^[A-Z][A-Z0-9_]+$/.test(text) ? text : undefined;
}

function textOf(node: Node | null | undefined, scope: Scope, depth = 0): string | undefined {
  if (!node || depth > 4) return undefined;
  const inner = (each: unknown) => textOf(each as Node, scope, depth + 1);
  switch (node.type) {
    case 'Literal':
      return stringOf(node);
    case 'TemplateLiteral': {
      const values = node.expressions as Node[];
      return (node.quasis as { value: { cooked: string } }[]).map(({ value }, at) => value.cooked + (values[at] ? valueIn(values[at], scope) : '')).join('');
    }
    case 'BinaryExpression': {
      const [left, right] = [inner(node.left), inner(node.right)];
      return left === undefined || right === undefined ? undefined : left + right;
    }
    case 'ConditionalExpression':
      return [inner(node.consequent), inner(node.alternate)].filter(Boolean).join(' / ') || undefined;
    case 'Identifier': {
      const declared = declarationOf(node.name, scope);
      const text = declared && textOf(declared.init, declared.scope, depth + 1);
      return declared && (text === undefined || IS_VALUE.test(text) ? `{${nameOf(node)}}` : text);
    }
    case 'CallExpression': {
      const { init, scope: around } = declarationOf((node.callee as Node).name, scope) ?? {};
      return init?.type === 'ArrowFunctionExpression' ? textOf(init.body as Node, { names: declaredBy(init), outer: around }, depth + 1) : undefined;
    }
    case 'MemberExpression':
      return declarationOf(rootOf(node).name, scope)?.init === null ? `{${nameOf(node)}}` : undefined;
    default:
      return undefined;
  }
}

/** Matches a text that consists only of a value inserted at run time. */
const IS_VALUE = /^\{[^{}]*\}$/;

const rootOf = (node: Node): Node => (node.type === 'MemberExpression' ? rootOf(node.object as Node) : node);

/**
 * Returns the text that stands for a value in a template: the text itself if it is constant, the plural if the value chooses between singular and plural,
 * otherwise a name such as `{task name}`.
 */
function valueIn(node: Node, scope: Scope): string {
  if (node.type === 'Identifier') return textOf(node, scope, 3) ?? `{${nameOf(node)}}`;
  if (node.type === 'ConditionalExpression') {
    const [one, other] = [node.consequent, node.alternate].map((each) => textOf(each as Node, scope, 3));
    if (one !== undefined && other !== undefined) return one === '' || isCount(node.test as Node) ? other : other === '' ? one : `{${one} / ${other}}`;
  }
  return `{${nameOf(node)}}`;
}

const isCount = ({ type, right }: Node): boolean => type === 'BinaryExpression' && (right as Node).value === 1;

/** Makes a readable name for a value: `task name` for `JSON.stringify(task.name)`, `port + 1` for `port + 1`. */
function nameOf(node: Node | undefined): string {
  switch (node?.type) {
    case 'Identifier':
      return String(node.name)
        .replaceAll('_', ' ')
        .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
        .toLowerCase();
    case 'MemberExpression': {
      const { object, property, computed } = node as unknown as { object: Node; property: Node; computed: boolean };
      return computed || object.type === 'CallExpression' ? nameOf(object) : `${nameOf(object).split(' ').at(-1)} ${nameOf(property)}`;
    }
    case 'CallExpression': {
      const { callee, arguments: given } = node as unknown as { callee: Node; arguments: Node[] };
      if (callee.type === 'MemberExpression' && !/^(JSON|Math|Object|String)$/.test(String((callee.object as Node).name))) return nameOf(callee.object as Node);
      return nameOf((callee.name === 'join' ? given.at(-1) : given[0]) ?? callee);
    }
    case 'NewExpression':
      return nameOf((node.arguments as Node[])[0]);
    case 'BinaryExpression':
      return /[+-]/.test(String(node.operator)) ? `${nameOf(node.left as Node)} ${node.operator} ${nameOf(node.right as Node)}` : nameOf(node.left as Node);
    case 'ConditionalExpression':
      return nameOf(node.alternate as Node);
    case 'LogicalExpression':
      return nameOf(node.left as Node);
    case 'TemplateLiteral':
      return nameOf((node.expressions as Node[])[0]);
    case 'Literal':
      return String(node.value);
    default:
      return isNode(node?.expression) ? nameOf(node.expression) : isNode(node?.argument) ? nameOf(node.argument) : 'value';
  }
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

Every refusal, warning and finding has a stable code, a message and a next step. \`covenant explain CODE\` prints the entry of a code. Below each code are the
messages that the server and the programs use with it. In a message, \`{name}\` stands for a value that is inserted when the message is shown.

${contents.join('\n')}

${sections.join('\n')}`;
}

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-');

function saidWith(messages: readonly Message[]): string {
  const lines = messages.flatMap(({ message, next }) => {
    if (message === undefined || (IS_VALUE.test(message) && IS_VALUE.test(next ?? '{}'))) return [];
    return [`  - ${inline(message)}${next && !IS_VALUE.test(next) ? ` → ${inline(next)}` : ''}`];
  });
  return lines.length === 0 ? '' : `- **Messages:**\n${[...new Set(lines)].join('\n')}\n`;
}

const inline = (text: string): string => text.replaceAll('\n', ' ').replaceAll('|', '\\|').replaceAll('*', '\\*');
