import { connect } from 'node:net';
import { httpRequest } from '../../../../wire/http-client.ts';
import { telemetrySettings } from '../../../telemetry/settings.ts';
import { check, type DoctorFinding, type Say } from './check.ts';
import { healthOf, WAIT_MS } from './server.ts';

/** Checks the port by connecting to it. Listening on it instead, even for a moment, could take the port from a server that is starting. */
export const port = check('port', ['PORT_IN_USE'], async (say, { config, server: running }) => {
  if (!config) return say.skipped('the port is not checked while the configuration is invalid');
  if (running) return say.ok('the port belongs to this server');
  const host = reachable(config.host);
  if (config.port === 0 || !(await answersAt(host, config.port))) return say.ok(`port ${config.port} is free`);
  const other = await healthOf(`http://${host.includes(':') ? `[${host}]` : host}:${config.port}`);
  const who = other === undefined || other === 'hung' || other.instance === undefined ? 'another program' : 'the Covenant server of another home';
  return say.warning('PORT_IN_USE', `${who} uses port ${config.port}`, `covenant up --port ${config.port + 1}, or port = ${config.port + 1} in config.toml`);
});

const reachable = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host);

function answersAt(host: string, at: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: at, timeout: WAIT_MS });
    const done = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => done(true));
    socket.once('timeout', () => done(false));
    socket.once('error', () => done(false));
  });
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/;

/** Checks the configured host names, because the server refuses requests for any other host name. */
export const proxy = check('proxy', ['FOREIGN_HOST', 'FOREIGN_ORIGIN', 'SETTINGS_NOT_READ'], async (say, context) => {
  const { config, server: running } = context;
  if (!config) return say.skipped('allowed_hosts is not checked while the configuration is invalid');
  const { host, allowed_hosts, allowed_origins } = config;
  const findings = [];
  if (!LOOPBACK.test(host) && allowed_hosts.length === 0)
    findings.push(
      say.warning(
        'FOREIGN_HOST',
        `the server listens on ${host} and accepts no other host name, so it answers requests for other names with 403`,
        'set allowed_hosts = ["NAME"] in config.toml, with the host name that callers use, then restart the server',
      ),
    );
  for (const origin of allowed_origins) {
    const { hostname } = new URL(origin);
    if (LOOPBACK.test(hostname) || hostname === host || allowed_hosts.some((name) => name.toLowerCase() === hostname)) continue;
    findings.push(
      say.warning(
        'FOREIGN_ORIGIN',
        `allowed_origins has ${origin}, but allowed_hosts lacks ${hostname}: the server refuses requests for that host name`,
        `add "${hostname}" to allowed_hosts, unless it is the host of another site`,
      ),
    );
  }
  for (const name of running ? allowed_hosts : []) {
    if (running && !(await knows(running.url, name)))
      findings.push(
        say.warning(
          'SETTINGS_NOT_READ',
          `the running server does not accept ${name} of allowed_hosts`,
          'stop the server, then run covenant up, because the server reads settings only when it starts',
        ),
      );
  }
  return findings.length > 0 ? findings : say.ok('the server accepts every name in allowed_hosts and allowed_origins');
});

async function knows(url: string, host: string): Promise<boolean> {
  try {
    return (await httpRequest(`${url}/api/health`, { method: 'GET', headers: { host }, signal: AbortSignal.timeout(WAIT_MS) })).status !== 403;
  } catch {
    // If the server does not answer, another check reports that.
    return true;
  }
}

/** Reports only warnings, because calls also work without the collector. Only traces and metrics are lost. */
export const telemetry = check('telemetry', ['OTLP_UNREACHABLE'], async (say, { config, env }) => {
  if (!config) return say.skipped('the OTLP endpoint is not checked while the configuration is invalid');
  const { targets, problems } = telemetrySettings(config, env);
  const told = (signal: string) => env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`] || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const endpoints = new Set([...targets].flatMap(([signal, { url }]) => url ?? told(signal) ?? []));
  const findings = problems.map((problem) => say.warning('OTLP_UNREACHABLE', problem, 'correct that variable, or set OTEL_SDK_DISABLED=true'));
  for (const endpoint of endpoints) findings.push(...(await listensAt(endpoint, say)));
  return findings.length > 0 ? findings : say.skipped('no OTLP endpoint is configured');
});

async function listensAt(endpoint: string, say: Say<'OTLP_UNREACHABLE'>): Promise<DoctorFinding[]> {
  const { hostname, port: given, protocol, host } = new URL(endpoint);
  const isThere = await answersAt(hostname.replace(/^\[|\]$/g, ''), Number(given || (protocol === 'https:' ? 443 : 80)));
  return [
    isThere
      ? say.ok(`${host} accepts connections for traces and metrics`)
      : say.warning('OTLP_UNREACHABLE', `the OTLP endpoint ${host} refuses connections`, 'start the collector, or correct the endpoint'),
  ];
}
