import { AsyncLocalStorage } from 'node:async_hooks'
import { ROOT_CONTEXT, SpanStatusCode, context, isSpanContextValid, trace } from '@opentelemetry/api'
import type { Context, Span, SpanContext, SpanOptions } from '@opentelemetry/api'

export { SpanKind, SpanStatusCode } from '@opentelemetry/api'
export type { Span } from '@opentelemetry/api'

/*
 * Traces (decision 400): a `traceparent` of W3C Trace Context is passed on from a merchant's request to banks and webhooks,
 * and spans go to the operator's own OpenTelemetry SDK. Without an SDK and without a `traceparent` there is no trace.
 */
type Trace = {
  context: Context
  spanContext: SpanContext
  /**
   * Where it was begun: here; by a merchant, perhaps in the request that created the payment; or by a caller who is not
   * known to be a merchant, whose trace no one else gets.
   */
  origin: 'own' | 'continued' | 'unverified'
}

const traces = new AsyncLocalStorage<Trace>()

/** Finds the SDK that the process was started with at the first span. */
const tracer = trace.getTracer('svc')

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/
const TRACEPARENT_LENGTH = 55

/** The parent that a `traceparent` names; undefined for one that is missing or not valid, which begins a new trace. */
function parseTraceparent(text: unknown): SpanContext | undefined {
  // Later versions may have more parts, version 00 has not (W3C Trace Context, section 3.2.2).
  if (typeof text !== 'string' || (text.startsWith('00') && text.length !== TRACEPARENT_LENGTH)) return undefined
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(text) ?? []
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(spanContext) ? spanContext : undefined
}

export type InSpan = SpanOptions & {
  /** Low in number: no ids. */
  name: string
  /**
   * Of a request, whose caller may be anyone: its `traceparent` is passed on only after `trustTraceparent`. Until then it
   * names the span, the lines of the log and the error response.
   */
  isUnverified?: true
  /**
   * Of work that goes on later, as its row keeps it: whether the trace was begun here, so that webhooks are in that
   * of their payment.
   */
  isOwn?: boolean
}

/** Passes the trace of the request's caller on, now that it is known to be a merchant. */
export function trustTraceparent(): void {
  const current = traces.getStore()
  if (current?.origin === 'unverified') current.origin = 'continued'
}

/**
 * Runs work in a span of the trace that `traceparent` names; without one, in the trace around it. A span of a rejected
 * promise has the error's name, and not its message, which may say more than operators of traces may know.
 */
export function inSpan<T>(
  span: InSpan,
  traceparent: unknown,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const named = parseTraceparent(traceparent)
  const parent = parentOf(named)
  const started = tracer.startSpan(span.name, span, parent)
  const spanContext = started.spanContext()
  // Without an SDK and without a parent. Any other check costs ten times as much.
  if (spanContext.traceId === NO_TRACE) return work(undefined)
  const inner = trace.setSpan(parent, started)
  const ofNamed = span.isUnverified === true ? 'unverified' : span.isOwn === true ? 'own' : 'continued'
  const origin = named === undefined ? (traces.getStore()?.origin ?? 'own') : ofNamed
  const entered: Trace = { context: inner, spanContext, origin }
  return traces.run(entered, () => context.with(inner, () => endAfter(started, work)))
}

/** An operator's own instrumentation of HTTP has a span of the same trace around ours, which is nearer than its parent. */
function parentOf(named: SpanContext | undefined): Context {
  const active = context.active()
  const around = active === ROOT_CONTEXT ? (traces.getStore()?.context ?? active) : active
  if (named === undefined || trace.getSpanContext(around)?.traceId === named.traceId) return around
  return trace.setSpanContext(ROOT_CONTEXT, named)
}

const NO_TRACE = '0'.repeat(32)

async function endAfter<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await work(span)
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'thrown' })
    throw error
  } finally {
    span.end()
  }
}

/** The `traceparent` of the current span, for what is called or queued; undefined without a trace, and in a stranger's. */
export function currentTraceparent(): string | undefined {
  const current = traces.getStore()
  return current === undefined || current.origin === 'unverified' ? undefined : traceparentOf(current)
}

/** The same where the trace was begun elsewhere. Changes in a trace of their own are shown in the trace of their payment. */
export function continuedTraceparent(): string | undefined {
  const current = traces.getStore()
  return current?.origin === 'continued' ? traceparentOf(current) : undefined
}

/** The current trace as a row keeps it, for a part of the work that goes on later; undefined as `currentTraceparent`. */
export function storedTrace(): { traceparent: string; isOwn: boolean } | undefined {
  const traceparent = currentTraceparent()
  return traceparent === undefined ? undefined : { traceparent, isOwn: continuedTraceparent() === undefined }
}

function traceparentOf({ spanContext: { traceId, spanId, traceFlags } }: Trace): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

const NONE: Readonly<Record<string, string>> = Object.freeze({})

/** What log lines name the current trace by; the same object wherever there is none. */
export function traceNames(): Readonly<Record<string, string>> {
  const current = traces.getStore()
  if (current === undefined) return NONE
  const { traceId, spanId } = current.spanContext
  return { trace_id: traceId, span_id: spanId }
}

/** The id of the current trace. */
export function currentTraceId(): string | undefined {
  return traces.getStore()?.spanContext.traceId
}
