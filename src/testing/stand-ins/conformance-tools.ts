import { setTimeout as pause } from 'node:timers/promises';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** A tool that the official conformance suite calls. There are tools for all content types, notifications and questions to the client. */
export interface FixtureTool {
  readonly description: string;
  readonly inputSchema?: Record<string, unknown>;
  call(args: Record<string, unknown>, ctx: ServerContext, fixture: FixtureState): Promise<CallToolResult | InputRequiredResult>;
}

/** Changes state that remains after a call. It determines whether the optional tool and prompt exist. */
export interface FixtureState {
  toggle(what: 'tools' | 'prompts'): void;
}

/** An image with one red pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A sound file that contains only a header. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

/** This key need not be secret, because it is used only by a test server. */
export const states = createRequestStateCodec<{ step: number }>({ key: 'the conformance fixture keeps no secrets' });

type Input = NonNullable<InputRequiredResult['inputRequests']>[string];
const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });
const form = (message: string, properties: Record<string, unknown>, required: string[] = Object.keys(properties)): Input =>
  ({ method: 'elicitation/create', params: { mode: 'form', message, requestedSchema: { type: 'object', properties, required } } }) as Input;
const sample = (prompt: string, maxTokens = 100): Input =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens });
const string = { type: 'string' } as const;

const resource = (uri: string, mimeType: string, value: string) => ({ type: 'resource' as const, resource: { uri, mimeType, text: value } });
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };

/** Returns the answers to the questions. If some are missing, returns a result that asks for them. */
export function asking(inputs: Record<string, Input>, ctx: ServerContext): { missing: InputRequiredResult } | { answers: Record<string, unknown> } {
  const answers: Record<string, unknown> = {};
  for (const key of Object.keys(inputs)) {
    const answer = inputResponse(ctx.mcpReq.inputResponses, key);
    if (answer.kind === 'missing') return { missing: inputRequired({ inputRequests: inputs }) };
    answers[key] = ctx.mcpReq.inputResponses?.[key];
  }
  return { answers };
}

const question = (description: string, inputs: (args: Record<string, unknown>) => Record<string, Input>, prefix = 'Answered'): FixtureTool => ({
  description,
  async call(args, ctx) {
    const asked = asking(inputs(args), ctx);
    return 'missing' in asked ? asked.missing : text(`${prefix}: ${JSON.stringify(asked.answers)}`);
  },
});

/** A tool that asks its questions in several rounds. Each round has its own signed state. */
const stepwise = (description: string, steps: Record<string, Input>[], done: string): FixtureTool => ({
  description,
  async call(_args, ctx) {
    const { step } = ctx.mcpReq.requestState<{ step: number }>() ?? { step: 0 };
    const asked = step > 0 ? asking(steps[step - 1] ?? {}, ctx) : { answers: {} };
    const at = 'missing' in asked ? step - 1 : step;
    const inputRequests = steps[at];
    if (!inputRequests) return text(done);
    return inputRequired({ inputRequests, requestState: await states.mint({ step: at + 1 }) });
  },
});

const toggles = (what: 'tools' | 'prompts'): FixtureTool => ({
  description: `Changes the list of ${what}.`,
  async call(_args, _ctx, fixture) {
    fixture.toggle(what);
    return text('Changed.');
  },
});

const reports = (description: string, between: () => Promise<unknown>): FixtureTool => ({
  description,
  async call(_args, ctx) {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await between();
    }
    return text('Done.');
  },
});

async function logs(ctx: ServerContext): Promise<CallToolResult> {
  for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await ctx.mcpReq.log('info', message);
    await pause(5);
  }
  return text('Logged three messages.');
}

const capabilitiesOf = (ctx: ServerContext): Record<string, unknown> =>
  (ctx.mcpReq.envelope as Record<string, Record<string, unknown>> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ?? {};

const titled = (...values: string[]) => values.map((value, index) => ({ const: `value${index + 1}`, title: value }));
const options = { type: 'string', enum: ['option1', 'option2', 'option3'] };

export const TOOLS: Readonly<Record<string, FixtureTool>> = {
  test_simple_text: { description: 'Answers with text.', call: async () => text('This is a simple text response for testing.') },
  test_image_content: { description: 'Answers with an image.', call: async () => ({ content: [image] }) },
  test_audio_content: { description: 'Answers with sound.', call: async () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }) },
  test_embedded_resource: {
    description: 'Answers with a resource.',
    call: async () => ({ content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] }),
  },
  test_multiple_content_types: {
    description: 'Answers with several types of content.',
    call: async () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_error_handling: { description: 'Fails.', call: async () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }) },
  test_tool_with_logging: { description: 'Logs three messages.', call: (_args, ctx) => logs(ctx) },
  test_logging_tool: { description: 'Logs to clients that asked for it.', call: (_args, ctx) => logs(ctx) },
  test_tool_with_progress: reports('Reports progress three times.', () => pause(5)),
  // This tool is not part of the suite. Its last progress report and its answer arrive together.
  test_progress_at_once: reports('Reports progress three times without a pause.', async () => {}),
  test_reconnection: {
    description: 'Closes its stream and answers on the next one.',
    async call(_args, ctx) {
      ctx.http?.closeSSE?.();
      await pause(50);
      return text('Answered after the reconnection.');
    },
  },
  test_sampling: {
    ...question('Asks the client to sample.', ({ prompt }) => ({ sampled: sample(String(prompt)) }), 'LLM response'),
    inputSchema: { type: 'object', properties: { prompt: string }, required: ['prompt'] },
  },
  test_elicitation: {
    ...question('Asks the user.', ({ message }) => ({ user: form(String(message), { username: string, email: string }) }), 'User response'),
    inputSchema: { type: 'object', properties: { message: string }, required: ['message'] },
  },
  test_elicitation_sep1034_defaults: question('Asks with defaults.', () => ({
    user: form(
      'Please confirm these values',
      {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      },
      [],
    ),
  })),
  test_elicitation_sep1330_enums: question('Asks for a choice with every kind of enum.', () => ({
    user: form(
      'Please choose',
      {
        untitledSingle: options,
        titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
        untitledMulti: { type: 'array', items: options },
        titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
      },
      [],
    ),
  })),
  test_streaming_elicitation: question('Asks in the middle of a stream.', () => ({ user: form('Go on?', { ok: { type: 'boolean' } }) })),
  test_missing_capability: {
    description: 'Requires sampling.',
    async call(_args, ctx) {
      if (!('sampling' in capabilitiesOf(ctx))) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
      return text('The client can sample.');
    },
  },
  test_trigger_tool_change: toggles('tools'),
  test_trigger_prompt_change: toggles('prompts'),
  test_input_required_result_elicitation: question('Asks for a name.', () => ({ user_name: form('What is your name?', { name: string }) })),
  test_input_required_result_sampling: question('Asks a model.', () => ({ capital_question: sample('What is the capital of France?') })),
  test_input_required_result_list_roots: question('Asks for the roots.', () => ({ client_roots: inputRequired.listRoots() })),
  test_input_required_result_request_state: stepwise(
    'Stores its state with the client.',
    [{ confirm: form('Please confirm', { ok: { type: 'boolean' } }) }],
    'state-ok',
  ),
  test_input_required_result_multiple_inputs: stepwise(
    'Asks for three things at once.',
    [
      {
        user_name: form('What is your name?', { name: string }),
        greeting: sample('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
    ],
    'All three were answered.',
  ),
  test_input_required_result_multi_round: stepwise(
    'Asks twice.',
    [{ step1: form('Step 1: What is your name?', { name: string }) }, { step2: form('Step 2: What is your favorite color?', { color: string }) }],
    'Both were answered.',
  ),
  test_input_required_result_tampered_state: stepwise(
    'Refuses a state that it did not make.',
    [{ confirm: form('Please confirm', { ok: { type: 'boolean' } }) }],
    'The state was its own.',
  ),
  test_input_required_result_capabilities: {
    description: 'Asks only for what the client can do.',
    async call(args, ctx, fixture) {
      const can = capabilitiesOf(ctx);
      const inputs: Record<string, Input> = {};
      if ('sampling' in can) inputs.sampled = sample('Say something');
      if ('elicitation' in can) inputs.user = form('What is your name?', { name: string });
      if (Object.keys(inputs).length === 0) return text('The client can do nothing of use.');
      return await question('', () => inputs).call(args, ctx, fixture);
    },
  },
  json_schema_2020_12_tool: {
    description: 'Has a JSON Schema 2020-12.',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: string, city: string } } },
      properties: {
        name: string,
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: string,
        email: string,
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    call: async (args) => text(JSON.stringify(args)),
  },
};
