import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPlain, plainSqlite } from './baselines/plain.ts';
import type { Benchmark, BenchmarkReport } from './benchmark.ts';
import { SECONDS } from './effort.ts';
import { measure } from './load.ts';
import { startPostgres } from './postgres.ts';
import { startBaseline, startCovenant } from './process.ts';
import { type Rate, rateOf, ratesInTurns } from './turns.ts';

const CLIENTS = [1, 32];
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

/**
 * Measures a call through the whole pipe, which is journaled and synced to disk before it is answered. The baselines are a bare server, and the writes of the
 * call without the rest.
 */
export const pipe: Benchmark = async (report) => {
  await onSqlite(report);
  await onPostgres(report);
};

async function onSqlite(report: BenchmarkReport): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
  const [hono, sdk, ours, plain] = [
    await startBaseline('hono-echo'),
    await startBaseline('sdk-echo'),
    await startCovenant(),
    await plainSqlite(join(folder, 'plain.db')),
  ];
  const authorization = { authorization: `Bearer ${ours.token}` };
  try {
    for (const connections of CLIENTS) {
      report.step(`SQLite, ${at(connections)}`);
      const common = { connections, seconds: SECONDS, expect: 'hello' };
      const [bareHono, bareSdk, api, mcp, writes] = (await ratesInTurns([
        () => measure({ ...common, url: `${hono.url}/api/mcp`, body: direct }),
        () => measure({ ...common, url: `${sdk.url}/mcp`, headers: mcpHeaders, body: mcpCall }),
        () => measure({ ...common, url: `${ours.url}/api/mcp`, headers: authorization, body: direct }),
        () => measure({ ...common, url: `${ours.url}/mcp/gateway`, headers: { ...mcpHeaders, ...authorization }, body: mcpCall }),
        () => rateOf(() => plain.append(0), 1, SECONDS),
      ])) as [Rate, Rate, Rate, Rate, Rate];
      report.rate(`POST /api/mcp, SQLite, ${at(connections)}`, api, { name: 'bare Hono', rate: bareHono });
      report.rate(`POST /api/mcp, SQLite, ${at(connections)}`, api, { name: 'plain SQLite, the same rows', rate: writes });
      report.rate(`MCP tools/call, SQLite, ${at(connections)}`, mcp, { name: 'bare MCP SDK', rate: bareSdk });
    }
  } finally {
    await Promise.all([hono.stop(), sdk.stop(), ours.stop(), plain.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onPostgres(report: BenchmarkReport): Promise<void> {
  const postgres = await startPostgres();
  const ours = await startCovenant({ DATABASE_URL: `${postgres.url}/postgres` });
  const plain = await openPlain({ path: '', url: await postgres.database('plain') }, Math.max(...CLIENTS));
  try {
    for (const connections of CLIENTS) {
      report.step(`PostgreSQL, ${at(connections)}`);
      const call = {
        url: `${ours.url}/api/mcp`,
        headers: { authorization: `Bearer ${ours.token}` },
        body: direct,
        connections,
        seconds: SECONDS,
        expect: 'hello',
      };
      const [api, writes] = (await ratesInTurns([() => measure(call), () => rateOf((writer) => plain.append(writer), connections, SECONDS)])) as [Rate, Rate];
      report.rate(`POST /api/mcp, PostgreSQL, ${at(connections)}`, api, { name: 'plain PostgreSQL, the same statements', rate: writes });
    }
  } finally {
    await Promise.all([ours.stop(), plain.close()]);
    await postgres.stop();
  }
}

const at = (clients: number): string => (clients === 1 ? '1 client' : `${clients} clients`);
