import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Benchmark } from './benchmark.ts';
import { post, type RawCall } from './calls.ts';
import { QUICK, SECONDS } from './effort.ts';
import { startMcpProxy } from './peers/mcp-proxy.ts';
import { withPeer } from './peers/peers.ts';
import { startBaseline, startCovenant } from './process.ts';
import { type Rate, rateOf, ratesInTurns } from './turns.ts';

const stdioEcho = new URL('baselines/stdio-echo.ts', import.meta.url).pathname;

const CALLERS = [1, 16];
/** Warm-up calls that are not measured. They are needed because the first calls of a process are its slowest. */
const WARM = QUICK ? 5 : 200;

/**
 * Measures calls of an external server's tool through the gateway, compared with direct calls to that server. Every call through the gateway is gated,
 * journaled and synced to disk.
 */
export const gateway: Benchmark = async (report) => {
  const upstream = await startBaseline('sdk-echo');
  const home = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
  writeFileSync(join(home, 'secrets.toml'), secrets(upstream.url), { mode: 0o600 });
  const ours = await startCovenant({}, home, ['tool.call.child_echo', 'tool.call.web_echo']);
  const direct = new Client({ name: 'bench', version: '1.0.0' });
  await direct.connect(new StdioClientTransport({ command: process.execPath, args: [stdioEcho], stderr: 'ignore' }));
  const web = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await web.connect(new StreamableHTTPClientTransport(new URL(`${upstream.url}/mcp`)));
  report.step('installing and starting mcp-proxy');
  const proxy = await withPeer('mcp-proxy', (folder) => startMcpProxy(folder, [process.execPath, stdioEcho]));
  try {
    const behindUs = { authorization: `Bearer ${ours.token}` };
    const calls: Record<string, RawCall> = {
      child: mcpCall(`${ours.url}/mcp/gateway`, 'child_echo', behindUs),
      web: mcpCall(`${ours.url}/mcp/gateway`, 'web_echo', behindUs),
      native: mcpCall(`${ours.url}/mcp/gateway`, 'echo', behindUs),
      directChild: echoOf(direct),
      directWeb: echoOf(web),
    };
    const proxied = 'value' in proxy ? await withPeer('mcp-proxy', async () => answering(mcpCall(`${proxy.value.url}/mcp`, 'echo', {}))) : proxy;
    if ('value' in proxied) calls.proxy = proxied.value;
    for (const call of Object.values(calls)) for (let warm = 0; warm < WARM; warm++) await call();
    for (const callers of CALLERS) {
      const at = callers === 1 ? '1 caller' : `${callers} callers`;
      report.step(at);
      const names = Object.keys(calls);
      const rates = await ratesInTurns(Object.values(calls).map((call) => () => rateOf(call, callers, SECONDS)));
      const of = (name: string) => rates[names.indexOf(name)] as Rate;
      report.rate(`stdio server through the gateway, ${at}`, of('child'), { name: 'the same server directly, SDK over stdio', rate: of('directChild') });
      report.rate(`stdio server through the gateway, ${at}`, of('child'), 'error' in proxied ? proxied : { name: proxied.name, rate: of('proxy') });
      report.rate(`stdio server through the gateway, ${at}`, of('child'), { name: 'native echo', rate: of('native') });
      report.rate(`HTTP server through the gateway, ${at}`, of('web'), { name: 'the same server directly, SDK over HTTP', rate: of('directWeb') });
    }
  } finally {
    await Promise.all([direct.close(), web.close(), ours.stop(), upstream.stop(), 'value' in proxy && proxy.value.stop()]);
    rmSync(home, { recursive: true, force: true });
  }
};

/** Makes one call first. If the other product refuses it, the measurement does not start. */
async function answering(call: RawCall): Promise<RawCall> {
  await call();
  return call;
}

const secrets = (url: string): string => `
[[mcp.server]]
name = "child"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(stdioEcho)}]

[[mcp.server]]
name = "web"
url = "${url}/mcp"
`;

const echoOf =
  (client: Client): RawCall =>
  async () =>
    expectHello(JSON.stringify(await client.callTool({ name: 'echo', arguments: { text: 'hello' } })));

function mcpCall(url: string, name: string, authorization: Record<string, string>): RawCall {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { text: 'hello' }, _meta } });
  const headers = {
    ...authorization,
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  return post(url, headers, body, expectHello);
}

function expectHello(answer: string): void {
  if (!answer.includes('"text":"hello"')) throw new Error(`not an echo: ${answer.slice(0, 300)}`);
}
