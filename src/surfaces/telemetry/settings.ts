import type { Config } from '../../config.ts';

export type Signal = 'traces' | 'metrics';

export interface TelemetrySettings {
  /** The signals to export. If the `url` of a signal is undefined, the exporter reads it from the standard variables. */
  readonly targets: ReadonlyMap<Signal, { readonly url: string | undefined }>;
  /** One message for each unusable variable. The server starts anyway, because these variables are often set for another program. */
  readonly problems: readonly string[];
}

/**
 * Returns which signals to export, and where. The standard variables take precedence over
 * config.toml. This file loads no part of OpenTelemetry, because most servers export nothing.
 */
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
      if (protocol === 'grpc')
        problems.push(`No ${signal} are sent: OTEL_EXPORTER_OTLP_PROTOCOL is grpc, but Covenant supports only OTLP over HTTP. Set it to http/json.`);
      // The message omits the value, which can contain a key. Without this check the exporter would use a default address without a warning.
      else if (!isHttp(env[variable])) problems.push(`No ${signal} are sent: ${variable} is not an http(s) address. Set it to http(s)://host:port.`);
      else targets.set(signal, { url: undefined });
    } else if (telemetry.otlp_endpoint) targets.set(signal, { url: `${telemetry.otlp_endpoint.replace(/\/+$/, '')}/v1/${signal}` });
  }
  return { targets, problems };
}

const isHttp = (address = ''): boolean => /^https?:\/\//i.test(address.trim()) && URL.canParse(address);
