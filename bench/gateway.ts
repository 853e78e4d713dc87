import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type Call, inTurns, post } from './calls.ts';
import type { Rate } from './load.ts';
import { type MeasuredCovenant, startBaseline, startCovenant } from './process.ts';
import type { Benchmark } from './run.ts';

const stdioEcho = new URL('baselines/stdio-echo.ts', import.meta.url).pathname;

/** What a tool of another server costs beside a native one and beside asking that server without us. Every call through us is gated, journaled and synced. */
export const gateway: Benchmark = {
  name: 'gateway',
  async run(report) {
    const upstream = await startBaseline('sdk-echo');
    const home = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
    writeFileSync(join(home, 'secrets.toml'), secrets(upstream.url), { mode: 0o600 });
    const ours = await startCovenant({}, home, ['tool.call.child_echo', 'tool.call.web_echo']);
    const direct = new Client({ name: 'bench', version: '1.0.0' });
    await direct.connect(new StdioClientTransport({ command: process.execPath, args: [stdioEcho], stderr: 'ignore' }));
    const web = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    await web.connect(new StreamableHTTPClientTransport(new URL(`${upstream.url}/mcp`)));

    const calls: [string, Call][] = [
      ['a direct stdio call, no gateway', echoOf(direct)],
      ['b native tool', mcpCall(ours, 'echo')],
      ['c gateway to a stdio child', mcpCall(ours, 'child_echo')],
      ['d direct HTTP call by the SDK, no gateway', echoOf(web)],
      ['e gateway to an HTTP upstream', mcpCall(ours, 'web_echo')],
    ];
    for (const [, call] of calls) for (let warm = 0; warm < 200; warm++) await call();
    for (const workers of [1, 16]) {
      const rates = await inTurns(
        calls.map(([, call]) => call),
        workers,
      );
      const native = rates[1] as Rate;
      for (const [index, [name]] of calls.entries()) {
        const rate = rates[index] as Rate;
        const hop = name.includes('gateway to');
        const ratios: Record<string, number> = hop ? { [`${name[0]}/b`]: rate.perSecond / native.perSecond, 'hop ms at p50': rate.p50 - native.p50 } : {};
        report.row(`${name}, ${workers} at once`, rate, ratios);
      }
    }
    await Promise.all([direct.close(), web.close()]);
    await Promise.all([ours.stop(), upstream.stop()]);
    rmSync(home, { recursive: true, force: true });
  },
};

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
  (client: Client): Call =>
  async () =>
    expectHello(JSON.stringify(await client.callTool({ name: 'echo', arguments: { text: 'hello' } })));

function mcpCall(server: MeasuredCovenant, name: string): Call {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { text: 'hello' }, _meta } });
  const headers = {
    authorization: `Bearer ${server.token}`,
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  return post(`${server.url}/mcp/gateway`, headers, body, expectHello);
}

function expectHello(answer: string): void {
  if (!answer.includes('"text":"hello"')) throw new Error(`not an echo: ${answer.slice(0, 300)}`);
}
