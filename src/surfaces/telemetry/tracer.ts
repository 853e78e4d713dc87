import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { SpanAttributes, TraceContext, Tracer, TraceSpan } from '../../kernel/trace.ts';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const w3c = new W3CTraceContextPropagator();

/** Implements the kernel's tracer with OpenTelemetry. The kernel passes the parent of each span, so the tracer does not look it up. */
export function otelTracer(otel: OtelTracer): Tracer {
  const open = (name: string, kind: keyof typeof KINDS, parent: Context, said: SpanAttributes = {}): TraceSpan =>
    asTraceSpan(otel.startSpan(name, { kind: KINDS[kind], attributes: { ...said } }, parent));

  const asTraceSpan = (span: Span): TraceSpan => {
    const inside = trace.setSpan(ROOT_CONTEXT, span);
    return {
      traceId: span.spanContext().traceId,
      get context() {
        const carried: { traceparent: string; tracestate?: string } = { traceparent: '' };
        w3c.inject(inside, carried, defaultTextMapSetter);
        return carried;
      },
      child: (name, kind, said) => open(name, kind, inside, said),
      rename: (name) => void span.updateName(name),
      say: (said) => void span.setAttributes({ ...said }),
      fail: (type) => void span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }),
      end: () => span.end(),
    };
  };

  return { begin: (name, kind, from) => open(name, kind, from ? parentOf(from) : ROOT_CONTEXT) };
}

/** Reads the parent span from a trace context. If the context is invalid, a new trace starts. */
const parentOf = (from: TraceContext): Context => w3c.extract(ROOT_CONTEXT, { ...from }, defaultTextMapGetter);
