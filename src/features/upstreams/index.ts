import type { House } from '../../kernel/context.ts';
import { NO_TOOLS } from '../../kernel/relay.ts';
import type { Feature } from '../../kernel/tool.ts';
import type { Upstreams } from './offer.ts';

export type { ExternalPrompt, ExternalResource, ResourceHolder, UpstreamChange, Upstreams } from './offer.ts';

export interface UpstreamsOptions {
  /** Where `secrets.toml` and the servers' logs are. */
  readonly home: string;
  /** Whether this process starts the servers; a command that ends at once only reads what is known of them. */
  readonly run: boolean;
  readonly toolTimeoutMs: number;
}

export function createUpstreams(_house: House, _options: UpstreamsOptions): { feature: Feature; upstreams: Upstreams } {
  return {
    feature: { name: 'upstreams', implementations: [] },
    upstreams: {
      tools: NO_TOOLS,
      abilities: () => ({ prompts: false, resources: false, completions: false, logging: false }),
      prompts: () => [],
      prompt: () => undefined,
      withheldPrompt: () => undefined,
      resources: () => [],
      resourceTemplates: () => [],
      holderOf: () => undefined,
      holderOfTemplate: () => undefined,
      onChange: () => () => {},
    },
  };
}
