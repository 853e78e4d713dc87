import type { CompleteRequestParams } from '@modelcontextprotocol/server';
import type { ResourceHolder, WorkspaceUpstreams } from '../../features/gateway/servers/index.ts';
import type { CallAnswer, CallRequest } from '../../kernel/call.ts';
import type { Aside } from '../../kernel/ports.ts';
import type { Exchange, Json } from '../../kernel/relay.ts';
import { Refusal } from '../../kernel/reply.ts';
import type { App } from '../../main.ts';
import type { McpCaller } from './caller.ts';
import { GUIDE, readGuide } from './guide.ts';
import { resourceNotFound, resultOf } from './replies.ts';

/** The fields that all calls of one request share. */
export interface Via {
  readonly caller: McpCaller;
  readonly signal: AbortSignal;
  readonly correlation?: Record<string, string> | undefined;
  readonly exchange?: Exchange | undefined;
}

/** Gets prompts, resources and completions from external servers. Each request goes through the pipe. Only our own guide is public. */
export interface Relays {
  prompt(name: string, args: Json | undefined, via: Via): Promise<Json>;
  resource(uri: string, via: Via): Promise<Json>;
  completion(params: CompleteRequestParams, via: Via): Promise<Json>;
  /** Watches a resource for updates. Resolves to undefined if the caller may not read such a resource. */
  watch(uri: string, via: Via): Promise<ResourceWatch | undefined>;
}

export interface ResourceWatch {
  readonly server: string;
  readonly stop: () => void;
}

/** The server name in requests that match no server. No grant can contain this name, so the pipe refuses the request and records the attempt. */
const NO_SERVER = '(nobody)';
const NO_TIMEOUT = 1_000;

export function createRelays({ dispatch, gate, upstreams }: App): Relays {
  const request = (via: Via): Omit<CallRequest, 'name' | 'args'> => ({
    principal: via.caller.principal,
    surface: 'mcp',
    toolsets: via.caller.toolsets,
    repository: via.caller.repository,
    place: via.caller.place,
    signal: via.signal,
    correlation: via.correlation,
    exchange: via.exchange,
  });

  const servedTo = (via: Via) => upstreams.in(via.caller.principal.workspace);

  /**
   * Sends a request for a prompt. The gate checks the grants before an unknown
   * prompt is reported, so that a refusal does not reveal whether the prompt exists.
   */
  async function ofPrompt(name: string, args: Json, via: Via, work: (prompt: Prompt, ctx: RelayContext) => Promise<Json>, aside?: Aside): Promise<Json> {
    const served = servedTo(via);
    const prompt = served.prompt(name);
    const precheck = () => (served.prompt(name) ? undefined : (served.withheldPrompt(name) ?? unknownPrompt(name)));
    const answer = await dispatch.relay({
      ...request(via),
      noun: 'prompt',
      ...(aside && { aside }),
      name,
      args,
      server: prompt?.server ?? NO_SERVER,
      timeoutMs: prompt?.timeoutMs ?? NO_TIMEOUT,
      precheck,
      work: async (ctx) => {
        // The prompt is looked up again, because the call may have waited for an approval.
        const current = served.prompt(name);
        if (!current) throw precheck();
        return await work(current, ctx);
      },
    });
    return resultOf(answer);
  }

  const relay = ({ server, timeoutMs }: Holder, args: Json, via: Via, work: (ctx: RelayContext) => Promise<Json>, aside?: Aside): Promise<CallAnswer> =>
    dispatch.relay({ ...request(via), noun: 'resource', ...(aside && { aside }), name: server, server, args, timeoutMs, work });

  async function recordMiss(args: Json, via: Via, aside?: Aside): Promise<void> {
    await relay({ server: NO_SERVER, timeoutMs: NO_TIMEOUT }, args, via, async () => ({}), aside);
  }

  async function readable(via: Via): Promise<(server: string) => boolean> {
    const may = await gate.visibility(via.caller.principal);
    return (server) => may.resource(server);
  }

  return {
    prompt: (name, args, via) => ofPrompt(name, args ?? {}, via, (prompt, ctx) => prompt.get(args, ctx)),
    async resource(uri, via) {
      if (uri === GUIDE.uri) return await readGuide();
      const isServed = via.caller.toolsets.has('gateway');
      const holder = isServed ? servedTo(via).holderOf(uri, await readable(via)) : undefined;
      if (holder) return resultOf(await relay(holder, { uri }, via, (ctx) => holder.read(uri, ctx)));
      await recordMiss({ uri }, via);
      throw resourceNotFound(uri);
    },
    async completion({ ref, argument, context }, via) {
      const params: CompletionParams = { argument: { ...argument }, context: context && { ...context } };
      const args = { ref: { ...ref }, ...params };
      if (ref.type === 'ref/prompt') return await ofPrompt(ref.name, args, via, (prompt, ctx) => prompt.complete(params, ctx), 'complete');
      const holder = servedTo(via).holderOfTemplate(ref.uri, await readable(via));
      if (holder) return resultOf(await relay(holder, args, via, (ctx) => holder.complete(ref.uri, params, ctx), 'complete'));
      await recordMiss(args, via, 'complete');
      throw resourceNotFound(ref.uri);
    },
    async watch(uri, via) {
      const holder = servedTo(via).holderOf(uri, await readable(via));
      if (!holder) {
        await recordMiss({ uri }, via, 'subscribe');
        return undefined;
      }
      const watching: { stop?: () => void; over?: boolean } = {};
      const work = async () => {
        const stop = await holder.watch(uri);
        // If the call has ended in the meantime, nothing else would stop this watch.
        if (watching.over) stop();
        else watching.stop = stop;
        return {};
      };
      try {
        resultOf(await relay(holder, { uri }, via, work, 'subscribe'));
      } catch (error) {
        watching.over = true;
        watching.stop?.();
        throw error;
      }
      return watching.stop && { server: holder.server, stop: watching.stop };
    },
  };
}

type Holder = Pick<ResourceHolder, 'server' | 'timeoutMs'>;
type Prompt = NonNullable<ReturnType<WorkspaceUpstreams['prompt']>>;
type RelayContext = Parameters<ResourceHolder['read']>[1];
type CompletionParams = Parameters<ResourceHolder['complete']>[1];

const unknownPrompt = (name: string): Refusal =>
  new Refusal('UNKNOWN_PROMPT', `There is no prompt ${JSON.stringify(name.slice(0, 128))}.`, 'Call prompts/list for the names of all prompts.');
