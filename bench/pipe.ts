import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../src/testing/postgres.ts';
import { measure, type Rate } from './load.ts';
import { residentMb, startBaseline, startCovenant } from './process.ts';
import type { Benchmark } from './run.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const CONNECTIONS = [1, 32];
const direct = { tool: 'echo', arguments: { text: 'hello' } };
const mcpCall = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'echo',
    arguments: { text: 'hello' },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};
const mcpHeaders = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' };

/** A call through the whole pipe, journaled and synced to disk before it is answered, beside doing nothing at all. */
export const pipe: Benchmark = {
  name: 'pipe',
  async run(report) {
    const hono = await startBaseline('hono-echo');
    const sdk = await startBaseline('sdk-echo');
    const ours = await startCovenant();
    const authorization = { authorization: `Bearer ${ours.token}` };
    const rates = new Map<string, Rate>();
    for (const connections of CONNECTIONS) {
      const common = { connections, seconds: SECONDS, expect: 'hello' };
      const take = async (name: string, load: Parameters<typeof measure>[0]) => {
        const rate = await measure(load);
        rates.set(`${name}@${connections}`, rate);
        return rate;
      };
      const a = await take('a', { ...common, url: `${hono.url}/api/mcp`, body: direct });
      const b = await take('b', { ...common, url: `${sdk.url}/mcp`, headers: mcpHeaders, body: mcpCall });
      const c = await take('c', { ...common, url: `${ours.url}/api/mcp`, headers: authorization, body: direct });
      const d = await take('d', { ...common, url: `${ours.url}/mcp/gateway`, headers: { ...mcpHeaders, ...authorization }, body: mcpCall });
      report.row(`a bare Hono echo, ${connections} connections`, a, {});
      report.row(`b bare MCP SDK echo, ${connections} connections`, b, {});
      report.row(`c /api/mcp durable, ${connections} connections`, c, { 'c/a': c.perSecond / a.perSecond });
      report.row(`d /mcp durable, ${connections} connections`, d, { 'd/b': d.perSecond / b.perSecond });
    }
    await Promise.all([hono.stop(), sdk.stop(), ours.stop()]);

    const postgres = await startPostgres();
    const onPostgres = await startCovenant({ DATABASE_URL: `${postgres.url}/postgres` });
    for (const connections of CONNECTIONS) {
      const rate = await measure({
        url: `${onPostgres.url}/api/mcp`,
        headers: { authorization: `Bearer ${onPostgres.token}` },
        body: direct,
        connections,
        seconds: SECONDS,
        expect: 'hello',
      });
      const baseline = rates.get(`a@${connections}`) as Rate;
      report.row(`c on PostgreSQL (its fsync off), ${connections} connections`, rate, { 'c/a': rate.perSecond / baseline.perSecond });
    }
    await onPostgres.stop();
    await postgres.stop();
  },
};

/** Start and rest. */
export const startup: Benchmark = {
  name: 'startup',
  async run(report) {
    const home = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
    const ready: number[] = [];
    let idleMb = 0;
    for (let round = 0; round < 6; round++) {
      const server = await startCovenant({}, home).then((started) => ({ ...started, keep: true }));
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      if (round > 0) ready.push(server.readyMs);
      idleMb = residentMb(server.pid);
      await server.stop();
    }
    rmSync(home, { recursive: true, force: true });
    ready.sort((x, y) => x - y);
    report.figure('covenant up, warm, median of 5', Math.round(ready[2] as number), 'ms to ready (aim < 1,000)');
    report.figure('idle resident memory', idleMb, 'MB (aim < 120)');
  },
};
