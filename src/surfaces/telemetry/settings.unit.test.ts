import { expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../config.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { telemetrySettings } from './settings.ts';
import { samplerFrom } from './start.ts';

const FILE = { telemetry: { otlp_endpoint: 'https://collector.example/otlp/' } };
const targets = (env: NodeJS.ProcessEnv, config: Parameters<typeof telemetrySettings>[0] = FILE) => Object.fromEntries(telemetrySettings(config, env).targets);

test('exports nothing without an endpoint', () => {
  expect(targets({}, loadConfig({ COVENANT_HOME: temporaryFolder() }))).toEqual({});
});

test('uses the endpoint in config.toml for both signals, unless the standard variables name another endpoint', () => {
  expect(targets({})).toEqual({ traces: { url: 'https://collector.example/otlp/v1/traces' }, metrics: { url: 'https://collector.example/otlp/v1/metrics' } });
  const theirs = { url: undefined };
  expect(targets({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x:4318' })).toEqual({ traces: theirs, metrics: theirs });
  expect(targets({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://x/t' }, { telemetry: {} })).toEqual({ traces: theirs });
  expect(targets({ OTEL_METRICS_EXPORTER: 'none' })).not.toHaveProperty('metrics');
  expect(targets({ OTEL_SDK_DISABLED: 'true' })).toEqual({});
});

test('reports variables for gRPC as unusable, and exports nothing', () => {
  const { targets, problems } = telemetrySettings({ telemetry: {} }, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
  expect([targets.size, problems.length]).toEqual([0, 2]);
  expect(problems[0]).toContain('OTEL_EXPORTER_OTLP_PROTOCOL');
});

test.each(['collector:4318', 'ftp://collector:4318', 'http://', '127.0.0.1'])('reports an invalid address (%s), and uses no other address', (wrong) => {
  for (const variable of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) {
    const { targets, problems } = telemetrySettings({ telemetry: {} }, { [variable]: wrong });
    expect(targets.size).toBe(0);
    expect(problems[0]).toContain(variable);
    expect(problems.join(' ')).not.toContain(wrong);
  }
});

test('uses the sampler of the standard variables, and names the variable of an invalid sampler', () => {
  expect(String(samplerFrom({}))).toMatch(/^ParentBased\{root=AlwaysOnSampler/);
  expect(String(samplerFrom({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }))).toBe('TraceIdRatioBased{0.25}');
  expect(String(samplerFrom({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }))).toMatch(/^ParentBased\{root=AlwaysOffSampler/);
  expect(() => samplerFrom({ OTEL_TRACES_SAMPLER: 'sometimes' })).toThrow(ConfigError);
  expect(() => samplerFrom({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '7' })).toThrow('OTEL_TRACES_SAMPLER_ARG');
});
