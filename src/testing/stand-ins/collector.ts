import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { whenOver } from '../scope.ts';

type Attribute = { key: string; value: { stringValue?: string; intValue?: number; doubleValue?: number; boolValue?: boolean } };

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** The number in OTLP. 1 stands for internal, 2 for server, 3 for client. */
  readonly kind: number;
  /** The number in OTLP. 2 stands for an error. */
  readonly status: number;
  readonly attributes: Record<string, unknown>;
  readonly resource: Record<string, unknown>;
}

export interface CollectedPoint {
  readonly attributes: Record<string, unknown>;
  readonly value?: number;
  readonly count?: number;
  readonly sum?: number;
  readonly bucketCounts?: number[];
  readonly explicitBounds?: number[];
}

export interface Collector {
  readonly url: string;
  /** The bodies of all requests, unparsed. */
  readonly bodies: string[];
  readonly headers: IncomingHttpHeaders[];
  spans(): CollectedSpan[];
  points(metric: string): CollectedPoint[];
  /** Changes how the collector answers. With `hang`, it accepts requests but never answers. With `partly`, it answers that it has rejected all data. */
  behave(how: 'well' | 'fail' | 'hang' | 'partly'): void;
  /** Resolves when the request with this number has arrived. */
  request(nth: number): Promise<void>;
}

/** Starts a collector that receives OTLP as JSON over HTTP. It ends with the test. */
export async function collector(): Promise<Collector> {
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const traces: string[] = [];
  const metrics: string[] = [];
  const hung: ServerResponse[] = [];
  const waiting = new Map<number, () => void>();
  let how: Parameters<Collector['behave']>[0] = 'well';
  const server = createServer(async (incoming, outgoing) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    bodies.push(body);
    headers.push(incoming.headers);
    waiting.get(bodies.length)?.();
    if (how === 'hang') return void hung.push(outgoing);
    if (how === 'well') (incoming.url === '/v1/traces' ? traces : metrics).push(body);
    const isTaken = how === 'well' || how === 'partly';
    outgoing
      .writeHead(isTaken ? 200 : 500, { 'content-type': 'application/json' })
      .end(how === 'partly' ? JSON.stringify({ partialSuccess: { rejectedSpans: '1', errorMessage: 'too old' } }) : '{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  whenOver(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    headers,
    spans: () => traces.flatMap(spansIn),
    points: (metric) => pointsIn(metrics.at(-1) ?? '{}', metric),
    behave(next) {
      how = next;
      for (const outgoing of hung.splice(0)) outgoing.destroy();
    },
    request: (nth) => (bodies.length >= nth ? Promise.resolve() : new Promise((resolve) => waiting.set(nth, resolve))),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire.
const parse = (body: string): any => JSON.parse(body);
const plain = (attributes: Attribute[] = []): Record<string, unknown> => Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

function spansIn(body: string): CollectedSpan[] {
  const found: CollectedSpan[] = [];
  for (const { resource, scopeSpans } of parse(body).resourceSpans)
    for (const { spans } of scopeSpans)
      for (const { status, attributes, parentSpanId, ...span } of spans)
        found.push({
          ...span,
          parentSpanId: parentSpanId || undefined,
          status: status?.code ?? 0,
          attributes: plain(attributes),
          resource: plain(resource.attributes),
        });
  return found;
}

function pointsIn(body: string, name: string): CollectedPoint[] {
  for (const { scopeMetrics } of parse(body).resourceMetrics ?? [])
    for (const { metrics } of scopeMetrics)
      for (const metric of metrics) {
        if (metric.name !== name) continue;
        const { dataPoints } = metric.sum ?? metric.gauge ?? metric.histogram;
        return dataPoints.map((point: { attributes: Attribute[]; asDouble?: number; asInt?: number }) => ({
          ...point,
          attributes: plain(point.attributes),
          value: point.asDouble ?? point.asInt,
        }));
      }
  return [];
}
