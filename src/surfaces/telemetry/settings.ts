import type { Config } from '../../config.ts';

export type Signal = 'traces' | 'metrics';

export interface TelemetrySettings {
  /** A signal that is not here is not told. `url` undefined: the exporter reads it from the standard variables. */
  readonly targets: ReadonlyMap<Signal, { readonly url: string | undefined }>;
  /** Variables that cannot be followed, as a sentence each. They are often meant for another program, so they stop nothing. */
  readonly problems: readonly string[];
}

/** The standard variables beat the file. Loads no part of OpenTelemetry: most servers tell nobody. */
export function telemetrySettings({ telemetry }: Pick<Config, 'telemetry'>, env: NodeJS.ProcessEnv): TelemetrySettings {
  const targets = new Map<Signal, { url: string | undefined }>();
  const problems: string[] = [];
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return { targets, problems };
  for (const signal of ['traces', 'metrics'] as const) {
    const name = signal.toUpperCase();
    const exporter = env[`OTEL_${name}_EXPORTER`] || 'otlp';
    if (exporter !== 'otlp') continue;
    const variable = [`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`, 'OTEL_EXPORTER_OTLP_ENDPOINT'].find((one) => env[one]);
    if (variable) {
      const protocol = env[`OTEL_EXPORTER_OTLP_${name}_PROTOCOL`] || env.OTEL_EXPORTER_OTLP_PROTOCOL;
      if (protocol === 'grpc') problems.push(`No ${signal} are sent: OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and only OTLP over HTTP is spoken here.`);
      // Its value may have a key in it. The exporter would send to another address than was meant: to its default, or to this machine.
      else if (!isHttp(env[variable])) problems.push(`No ${signal} are sent: ${variable} is not an address as http(s)://host:port.`);
      else targets.set(signal, { url: undefined });
    } else if (telemetry.otlp_endpoint) targets.set(signal, { url: `${telemetry.otlp_endpoint.replace(/\/+$/, '')}/v1/${signal}` });
  }
  return { targets, problems };
}

const isHttp = (address = ''): boolean => /^https?:\/\//i.test(address.trim()) && URL.canParse(address);
