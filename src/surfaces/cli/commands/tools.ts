import { calling, type ItemOf } from '../call.ts';
import { type CliCommand, option, UsageError } from '../command.ts';
import { type TableShape, table } from '../output.ts';
import { working } from '../progress.ts';

const TOOLS: TableShape = {
  head: ['TOOL', 'SERVER', 'STATE', 'YOU', '24 h'],
  narrow: [
    ['SERVER', 12],
    ['TOOL', 30],
  ],
};

export const toolCommands: readonly CliCommand[] = [
  calling({
    name: 'tools list',
    summary: 'List all tools, and show which of them you may call.',
    examples: ['tools list'],
    action: 'tools.list',
    kind: 'tool_list',
    text({ items }, { out }) {
      const rows = items.map((t) => [t.name, t.server, t.state, t.you, String(t.calls_24h)]);
      return [table(TOOLS, rows, out.columns), ...withheldTools(items)].join('\n');
    },
  }),
  {
    name: 'tools call',
    summary: 'Call a tool as the operator.',
    arguments: [{ name: 'NAME', description: 'The name of the tool.' }],
    options: { args: { value: 'JSON', description: 'The arguments, as a JSON object.', default: '{}' } },
    examples: ['tools call clock', `tools call echo --args '{"text": "hi"}'`],
    async run(invocation) {
      const args = parseArguments(option(invocation, 'args'));
      const client = await invocation.client();
      const body = await working(invocation, 'Waiting for the tool', () => client.tool(invocation.positionals[0] as string, args));
      // The output of a tool may contain control characters that affect a terminal. So it is escaped, unless it goes to a program or a file.
      const result = callResult(body, invocation.out.mark.bad);
      return { ...result, verbatim: result.exit === 0 && !process.stdout.isTTY };
    },
  },
];

function withheldTools(items: readonly ItemOf<'tools.list'>[]): string[] {
  const servers = Map.groupBy(
    items.filter(({ state }) => state === 'withheld'),
    ({ server }) => server,
  );
  return [...servers].map(([server, tools]) => `Withheld tools of ${server}: ${tools.length}. To review them: covenant servers approve ${server}`);
}

function parseArguments(text = '{}'): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError('`--args` must be valid JSON, for example --args \'{"text": "hi"}\'');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError('`--args` must be a JSON object, for example --args \'{"text": "hi"}\'');
  return value as Record<string, unknown>;
}

interface Content {
  type: string;
  text?: string;
  mimeType?: string;
  data?: string;
  uri?: string;
  resource?: { uri?: string; text?: string; mimeType?: string };
}

/** Returns the result of a gateway tool unchanged. Any other envelope becomes the structured content of the result. */
export function callResult(body: Record<string, unknown>, bad: string) {
  const own = Array.isArray(body.content) && (body.isError === undefined || typeof body.isError === 'boolean');
  const refusal = own ? gatewayRefusal(body) : refusalOf(body);
  const isError = own ? body.isError === true : refusal !== undefined;
  const content = own ? (body.content as Content[]) : [{ type: 'text', text: JSON.stringify(body) }];
  const structuredContent = own ? body.structuredContent : body;
  const text = refusal ? `${bad} ${refusal.message}\n    next: ${refusal.next}` : contentText(content, structuredContent);
  return { json: { kind: 'tool_result', content, structuredContent, isError }, text, exit: isError ? (1 as const) : (0 as const) };
}

/** Shows text as it is. For other content, shows only the kind and the size. */
function contentText(content: readonly Content[], structuredContent: unknown): string {
  if (content.length === 0 && structuredContent !== undefined) return JSON.stringify(structuredContent);
  return content.map((part) => part.text ?? part.resource?.text ?? `[${kindOf(part)}]`).join('\n');
}

function kindOf({ type, mimeType, data, uri, resource }: Content): string {
  const bytes = data === undefined ? undefined : `${Buffer.from(data, 'base64').length} bytes`;
  return [type, mimeType ?? resource?.mimeType, uri ?? resource?.uri, bytes].filter((word) => word !== undefined).join(' ');
}

/** Returns the refusal if Covenant itself refused the call. Errors of external tools look similar, but they do not have a code, a message and a next step. */
function gatewayRefusal({ isError, structuredContent }: Record<string, unknown>): { message: string; next: string } | undefined {
  const { code, message, next } = (structuredContent ?? {}) as Record<string, unknown>;
  return isError === true && code && typeof message === 'string' && typeof next === 'string' ? { message, next } : undefined;
}

/** The message and next step of a refusal, from the envelope of any contract. */
function refusalOf(body: Record<string, unknown>): { message: string; next: string } | undefined {
  const feedback = body.feedback as { required_action?: string | null } | undefined;
  if (body.status === 'error' || body.status === 'blocked') return { message: String(body.message), next: feedback?.required_action ?? '' };
  const error = body.error as { message?: string; details?: { next?: string } } | undefined;
  if (body.ok === false) return { message: String(error?.message), next: error?.details?.next ?? '' };
  if (typeof body.code === 'string' && typeof body.suggestion === 'string') return { message: String(body.message), next: body.suggestion };
  return undefined;
}
