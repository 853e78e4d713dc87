import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../src/testing/postgres.ts';
import { inTurns, measure, type Rate } from './load.ts';
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
    const baseline = new Map<number, Rate>();
    for (const connections of CONNECTIONS) {
      const common = { connections, seconds: SECONDS, expect: 'hello' };
      const [a, b, c, d] = await inTurns([
        { ...common, url: `${hono.url}/api/mcp`, body: direct },
        { ...common, url: `${sdk.url}/mcp`, headers: mcpHeaders, body: mcpCall },
        { ...common, url: `${ours.url}/api/mcp`, headers: authorization, body: direct },
        { ...common, url: `${ours.url}/mcp/gateway`, headers: { ...mcpHeaders, ...authorization }, body: mcpCall },
      ]);
      baseline.set(connections, a as Rate);
      report.row(`a bare Hono echo, ${connections} connections`, a as Rate, {});
      report.row(`b bare MCP SDK echo, ${connections} connections`, b as Rate, {});
      report.row(`c /api/mcp durable, ${connections} connections`, c as Rate, { 'c/a': ratio(c, a) });
      report.row(`d /mcp durable, ${connections} connections`, d as Rate, { 'd/b': ratio(d, b) });
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
      report.row(`c on PostgreSQL (its fsync off), ${connections} connections`, rate, { 'c/a': ratio(rate, baseline.get(connections)) });
    }
    await onPostgres.stop();
    await postgres.stop();
  },
};

const ratio = (one: Rate | undefined, other: Rate | undefined): number => (one?.perSecond ?? 0) / (other?.perSecond ?? 1);

/** Start and rest. */
export const startup: Benchmark = {
  name: 'startup',
  async run(report) {
    const home = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
    const ready: number[] = [];
    let idleMb = 0;
    for (let round = 0; round < 6; round++) {
      const server = await startCovenant({}, home);
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
