import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { App } from '../app.ts'
import { takesJson } from '../lib/accept-header.ts'
import { clientAddressOf } from '../lib/client-address.ts'
import { DomainError } from '../lib/errors.ts'
import { traceNames } from '../lib/trace.ts'
import type { FieldError } from '../lib/errors.ts'
import { isDryRun } from '../wire/operation.ts'
import type { Operation, OperationReply, StreamOperation } from '../wire/operation.ts'
import { sendCsv, wantsCsv } from './csv-reply.ts'
import { runDry } from './dry-run.ts'
import { makeEventStream } from './event-stream.ts'
import type { EventStream } from './event-stream.ts'
import type { Guard } from './guards.ts'
import type { Credentials } from './credentials.ts'
import { withRowsOf } from './principal.ts'
import type { Principal } from './principal.ts'
import { isOpenBanking } from './open-banking-errors.ts'
import { logPlain } from '../observe/log.ts'
import { parseRequest } from './parse-request.ts'
import { sendError, sendJson, sendNothing } from './reply.ts'
import { callerNames, networkName } from './logged-caller.ts'
import { requestIdOf } from './request-id.ts'
import { inRequestSpan, requestSpan } from './request-span.ts'

/** A parsed request, as handlers see it. */
export type Input<O extends Operation> = {
  principal: Principal
  params: z.output<O['params']>
  query: z.output<O['query']>
  headers: z.output<O['headers']>
  body: z.output<O['body']>
  /** The bytes of the body as received. */
  rawBody: Buffer
  /** The address of the client; behind a trusted proxy, the one that the proxy names. */
  clientAddress: string
  /** Every header, because only a bank connector knows the names of its own. */
  allHeaders: Readonly<Record<string, string | undefined>>
}

/** The response of a handler: one of the operation's statuses with its body. */
export type Reply<O extends Operation> = OperationReply<O> & { headers?: Record<string, string> }

export type Handler<O extends Operation> = (app: App, input: Input<O>) => Promise<Reply<O>>

/** Responds with server-sent events until the stream's signal aborts. */
export type StreamHandler<O extends Operation> = (
  app: App,
  input: Input<O> & { headOnly: boolean },
  stream: EventStream,
) => Promise<void>

/**
 * The handlers of one file of the contract: a method for each operation declared there, under the operation's name. A
 * method's name is not in scope inside it, so it can call the use case of the same name.
 */
export type Handlers<Contract> = {
  [Name in keyof Contract as Contract[Name] extends Operation ? Name : never]: HandlerOf<Contract[Name]>
}

type HandlerOf<O> = O extends StreamOperation ? StreamHandler<O> : O extends Operation ? Handler<O> : never

/**
 * Rules of a body that its schema can't express, such as those that depend on the time. The use case checks them itself,
 * because a repeated request gets its first response whatever the time. Here they run only when the body has other
 * errors, so that the response lists all errors at once (decision 10).
 */
export type BodyRules = (body: unknown) => FieldError[]

/** A request with the parameters and query that polka has parsed. */
export type RoutedRequest = IncomingMessage & { params: Record<string, string>; query: Record<string, unknown> }

export type Endpoint = (req: RoutedRequest, res: ServerResponse) => Promise<void>

/** A request whose caller is known and that is parsed. */
type ParsedRequest<O extends Operation> = {
  app: App
  operation: O
  req: RoutedRequest
  res: ServerResponse
  requestId: string
  input: Input<O>
  /** Authenticates the caller again: a stream outlives what a caller may read. */
  recheckCaller(): Promise<Principal>
}

/** Runs the handler of a parsed request and sends its response. */
export type Responder<O extends Operation> = (parsed: ParsedRequest<O>) => Promise<void>

/**
 * Handles a request: authenticates the caller, parses, responds. Errors become error responses here, so nothing that a
 * handler throws can end the process.
 */
export function makeEndpoint<O extends Operation>(
  app: App,
  guard: Guard,
  operation: O,
  respond: Responder<O>,
  rules?: BodyRules,
): Endpoint {
  const span = requestSpan(operation.method, operation.path)
  const handle: Endpoint = async (req, res) => {
    const started = performance.now()
    const requestId = requestIdOf(app, req)
    const names = traceNames()
    let isDry = false
    let principal: Principal | undefined
    res.once('close', () => observe({ app, operation, req, res, requestId, started, isDry, principal, names }))
    try {
      requireAcceptsJson(operation, req)
      principal = await guard(operation, credentialsOf(app, req))
      const recheckCaller = () => guard(operation, credentialsOf(app, req), { isRecheck: true })
      const input = await parseRequest({ app, operation, req, principal, rules })
      isDry = isDryRun(input.query)
      await respond({ app, operation, req, res, requestId, input, recheckCaller })
    } catch (error) {
      sendError(res, { error, requestId, publicUrl: app.publicUrl, log: app.log.child({ operation: operation.name }) })
    }
  }
  return (req, res) => inRequestSpan(span, { req, res }, () => handle(req, res))
}

/** Responds with the reply of the handler, as JSON or CSV. */
export function replying<O extends Operation>(handler: Handler<O>): Responder<O> {
  return async ({ app, operation, req, res, requestId, input }) => {
    const reply = await withRowsOf(input.principal, () =>
      isDryRun(input.query) ? runDry(app, (dry) => handler(dry, input)) : handler(app, input),
    )
    checkReply(app, operation, reply)
    const headers = {
      'x-request-id': requestId,
      ...(isOpenBanking(operation.path) ? { 'x-fapi-interaction-id': requestId } : {}),
      ...(operation.csv === true ? { vary: 'accept' } : {}),
      ...deprecationHeaders(operation),
      ...reply.headers,
    }
    if (wantsCsv(operation, req)) sendCsv(res, { operation, body: reply.body, publicUrl: app.publicUrl, headers })
    else if (reply.status === 204) sendNothing(res, headers)
    else sendJson(res, reply.status, reply.body, headers)
  }
}

/** Responds with the events of the handler, and checks the caller again meanwhile. */
export function streaming<O extends Operation>(handler: StreamHandler<O>): Responder<O> {
  return async ({ app, operation, req, res, requestId, input, recheckCaller }) => {
    const headers = { 'x-request-id': requestId }
    const { principal } = input
    const stream = makeEventStream({ app, operation, res, headers, principal, recheckCaller })
    await withRowsOf(input.principal, () => handler(app, { ...input, headOnly: req.method === 'HEAD' }, stream))
  }
}

/** RFC 9745 and RFC 8594: responses of an operation that will be removed say so. */
function deprecationHeaders({ deprecated }: Operation): Record<string, string> {
  if (deprecated === undefined) return {}
  return {
    deprecation: `@${Date.parse(deprecated.since) / 1_000}`,
    sunset: new Date(deprecated.sunset).toUTCString(),
  }
}

function credentialsOf(app: App, req: RoutedRequest): Credentials {
  return {
    headers: req.headers,
    rawHeaders: req.rawHeaders,
    params: req.params,
    get clientAddress() {
      return clientAddressOf(req, app.config.trustProxy)
    },
  }
}

/** Surface A responds with JSON only, and rejects clients that do not accept it (decision 11). */
function requireAcceptsJson({ path }: Operation, { headers: { accept } }: IncomingMessage): void {
  if (accept === undefined || !isOpenBanking(path) || takesJson(accept)) return
  throw new DomainError('NOT_ACCEPTABLE', 'the request does not accept JSON, the only format of the response', {
    next: 'send Accept: application/json',
  })
}

/** Outside of live mode, checks every response against its declaration: a difference is a bug, and fails the request. */
function checkReply(app: App, operation: Operation, reply: { status: number; body: unknown }): void {
  if (app.config.mode === 'live') return
  const schema = operation.replies[reply.status]
  if (schema === undefined) throw new Error(`${operation.name} responded with the undeclared status ${reply.status}`)
  const parsed = schema.safeParse(reply.body)
  if (!parsed.success)
    throw new Error(`${operation.name} responded with another shape than declared: ${z.prettifyError(parsed.error)}`)
}

type ObservedRequest = {
  app: App
  operation: Operation
  req: IncomingMessage
  res: ServerResponse
  requestId: string
  started: number
  isDry: boolean
  /** Undefined for a request whose caller was refused. */
  principal: Principal | undefined
  /** Of the trace: the response ends outside of it. */
  names: Readonly<Record<string, string>>
}

function observe({ app, operation, req, res, requestId, started, isDry, principal, names }: ObservedRequest): void {
  const ms = performance.now() - started
  const { name, method } = operation
  // The duration of a stream says nothing about the speed of the service.
  if (operation.stream === undefined)
    app.metrics.httpSeconds.observe({ operation: name, method, status: res.statusCode }, ms / 1000)
  const payment = /\/payments\/([0-9a-f-]{36})/.exec(req.url ?? '')?.[1]
  logPlain(
    app.log,
    {
      ...names,
      request_id: requestId,
      operation: name,
      status: res.statusCode,
      duration_ms: Math.round(ms * 10) / 10,
      network: networkName(app, req),
      ...(principal === undefined ? {} : callerNames(principal)),
      payment_id: payment,
      dry_run: isDry || undefined,
    },
    'request',
  )
}
