import { hash } from 'node:crypto';
import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { workspaceFlag } from '../../../kernel/ids.ts';
import { invalidInput, ok, type Reply, refused } from '../../../kernel/reply.ts';
import { canonicalJson } from '../../../storage/journal.ts';
import { findRows, insertRows, newId } from '../../../storage/rows.ts';
import type { AgentSpanRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { shellQuoted } from '../../../wire/shell-quoted.ts';
import { callingDeveloper } from '../../core/identity/index.ts';
import { agentTypeOf } from '../sessions/index.ts';
import type { ingestTelemetry } from './contract.ts';
import { costOf, isMismatch, microDollars, type PriceList, priceList } from './prices.ts';
import { readPayload } from './sources.ts';
import type { UsageSpan } from './span.ts';

const MAX_BYTES = 256 * 1024;

export interface UsageReading {
  readonly spans: readonly UsageSpan[];
  readonly sha256: string;
}

/** Reads the models and counters from the payload. Nothing else in the payload is used, except for its hash. */
export function readingOf({ source, payload }: Input<typeof ingestTelemetry>): UsageReading {
  const text = canonicalJson(payload);
  if (Buffer.byteLength(text) > MAX_BYTES) throw invalidInput([{ field: 'payload', message: 'is more than 256 KiB of JSON' }]);
  return { spans: readPayload(source, payload), sha256: hash('sha256', text) };
}

export async function ingest(
  tx: Tx,
  input: Input<typeof ingestTelemetry>,
  ctx: WriteContext,
  { spans, sha256 }: UsageReading,
): Promise<Reply<ReturnType<typeof answer>>> {
  const developerId = callingDeveloper(ctx.principal);
  const known = await findRows(
    tx.db,
    'agent_spans',
    { workspace_id: tx.workspace, developer_id: developerId, payload_sha256: sha256 },
    { order: { id: 'asc' } },
  );
  if (known.length > 0) {
    return refused('warning', 'ALREADY_INGESTED', 'This payload is already counted. It was not counted again.', 'Nothing to do.', answer(known));
  }
  const rows = await priced(tx, spans, {
    developer_id: developerId,
    session_id: ctx.session,
    agent_type: (ctx.session && (await agentTypeOf(tx.db, tx.workspace, ctx.session))) ?? ctx.principal.agentType,
    source: input.source,
    payload_sha256: sha256,
    submitted: submittedMicros(input.submitted_cost, spans),
  });
  await insertRows(tx.db, 'agent_spans', rows);
  const data = answer(rows);
  record(tx, ctx, {
    category: 'work',
    kind: 'telemetry.ingested',
    subject: rows[0]?.id ?? null,
    payload: { source: input.source, payload_sha256: sha256, ...sumOf(rows), cost_usd: data.cost_usd, cost_mismatch: data.cost_mismatch },
  });
  if (!data.cost_mismatch) return ok(data, 'Counted.');
  const [model, ...others] = new Set(rows.flatMap((row) => row.model ?? []));
  return refused(
    'warning',
    'COST_MISMATCH',
    `Counted. The submitted cost of $${data.submitted_cost_usd} differs from the $${data.cost_usd} computed with the server's prices.`,
    `Nothing to do for this report. If the submitted cost is right, ask the operator to set the price: covenant prices set ${model === undefined || others.length > 0 ? 'MODEL' : shellQuoted(model)} --input USD --output USD${workspaceFlag(tx.workspace)}`,
    data,
  );
}

interface About extends Pick<AgentSpanRow, 'developer_id' | 'session_id' | 'agent_type' | 'source' | 'payload_sha256'> {
  submitted: number | null;
}

async function priced(tx: Tx, spans: readonly UsageSpan[], { submitted, ...about }: About): Promise<AgentSpanRow[]> {
  const prices = await priceList(tx.db, tx.workspace);
  const costs = spans.map((span) => costByList(span, prices));
  const total = sumKnown(costs.map(({ cost_micros }) => cost_micros));
  const mismatch = submitted !== null && total !== null && isMismatch(submitted, total) ? 1 : 0;
  return spans.map(({ claimed_usd: _, ...counts }, at) => ({
    workspace_id: tx.workspace,
    id: newId('span', tx.now),
    ...about,
    ...counts,
    cost_micros: costs[at]?.cost_micros ?? null,
    price_version: costs[at]?.price_version ?? null,
    submitted_micros: at === 0 ? submitted : null,
    cost_mismatch: mismatch,
    verified: 1,
    ingested_at: tx.now,
  }));
}

function costByList(span: UsageSpan, prices: PriceList): { cost_micros: number | null; price_version: string | null } {
  const found = prices.priceOf(span.model);
  const cost = found ? costOf(span, found.price) : null;
  return { cost_micros: cost, price_version: cost === null ? null : (found?.version ?? null) };
}

/** The cost that the caller submitted. If the caller submitted none, the sum of the costs in the payload. */
function submittedMicros(submitted: number | undefined, spans: readonly UsageSpan[]): number | null {
  if (submitted !== undefined) return microDollars(submitted);
  return sumKnown(spans.map(({ claimed_usd }) => (claimed_usd === null ? null : microDollars(claimed_usd))));
}

/** The sum, or null if any value is unknown, because the sum of the other values would be wrong. */
const sumKnown = (values: readonly (number | null)[]): number | null =>
  values.includes(null) ? null : (values as readonly number[]).reduce((sum, value) => sum + value, 0);

function answer(rows: readonly AgentSpanRow[]) {
  const cost = sumKnown(rows.map(({ cost_micros }) => cost_micros));
  const submitted = rows[0]?.submitted_micros ?? null;
  return {
    spans: rows.map((row) => ({
      span_id: row.id,
      model: row.model,
      provider: row.provider,
      ...countersOf(row),
      cost_usd: row.cost_micros === null ? null : row.cost_micros / 1e6,
      price_version: row.price_version,
    })),
    payload_sha256: rows[0]?.payload_sha256 ?? '',
    verified: 1 as const,
    cost_usd: cost === null ? null : cost / 1e6,
    submitted_cost_usd: submitted === null ? null : submitted / 1e6,
    cost_mismatch: rows.some(({ cost_mismatch }) => cost_mismatch === 1),
  };
}

const countersOf = ({ input_tokens, cached_input_tokens, cache_creation_tokens, output_tokens, reasoning_tokens, total_tokens }: AgentSpanRow) => ({
  input_tokens,
  cached_input_tokens,
  cache_creation_tokens,
  output_tokens,
  reasoning_tokens,
  total_tokens,
});

function sumOf(rows: readonly AgentSpanRow[]) {
  const sum = (name: keyof ReturnType<typeof countersOf>) => rows.reduce((total, row) => total + row[name], 0);
  return {
    spans: rows.length,
    models: [...new Set(rows.map(({ model }) => model))].slice(0, 20),
    input_tokens: sum('input_tokens'),
    cached_input_tokens: sum('cached_input_tokens'),
    cache_creation_tokens: sum('cache_creation_tokens'),
    output_tokens: sum('output_tokens'),
    total_tokens: sum('total_tokens'),
  };
}
