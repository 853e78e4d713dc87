import { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, type Sampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import { ConfigError } from '../../config.ts';

const ROOTS = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio: number) => new TraceIdRatioBasedSampler(ratio),
};

/** By the standard variables. Unless they say otherwise, a caller that has decided about its trace has decided about ours. */
export function samplerFrom(env: NodeJS.ProcessEnv): Sampler {
  const { OTEL_TRACES_SAMPLER: name = '', OTEL_TRACES_SAMPLER_ARG: given = '' } = env;
  const [, parentBased, kind] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name || 'parentbased_always_on') ?? [];
  if (!kind) throw new ConfigError(`OTEL_TRACES_SAMPLER: expected always_on, always_off or traceidratio, maybe after parentbased_`);
  const ratio = given === '' || kind !== 'traceidratio' ? 1 : Number(given);
  if (!(ratio >= 0 && ratio <= 1)) throw new ConfigError('OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1');
  const root = ROOTS[kind as keyof typeof ROOTS](ratio);
  return parentBased ? new ParentBasedSampler({ root }) : root;
}
