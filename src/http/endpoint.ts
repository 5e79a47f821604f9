import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { App } from '../app.ts'
import { takesJson } from '../lib/accept-header.ts'
import { clientAddressOf } from '../lib/client-address.ts'
import { DomainError } from '../lib/errors.ts'
import type { FieldError } from '../lib/errors.ts'
import type { Operation, OperationReply, StreamOperation } from '../wire/operation.ts'
import { sendCsv, wantsCsv } from './csv-reply.ts'
import { makeEventStream } from './event-stream.ts'
import type { EventStream } from './event-stream.ts'
import type { Guard } from './guards.ts'
import type { Credentials } from './credentials.ts'
import type { Principal } from './principal.ts'
import { isOpenBanking } from './open-banking-errors.ts'
import { parseRequest } from './parse-request.ts'
import { sendError, sendJson, sendNothing } from './reply.ts'
import { requestIdOf } from './request-id.ts'

/** A parsed request, as handlers see it. */
export type Input<O extends Operation> = {
  principal: Principal
  params: z.output<O['params']>
  query: z.output<O['query']>
  headers: z.output<O['headers']>
  body: z.output<O['body']>
  /** The body's bytes as they came. */
  rawBody: Buffer
  /** Where the request comes from; behind a proxy that is trusted, where that one says. */
  clientAddress: string
  /** Every header, for those whose names only a bank connector knows. */
  allHeaders: Readonly<Record<string, string | undefined>>
}

/** What a handler answers: one of the operation's own statuses with its body. */
export type Reply<O extends Operation> = OperationReply<O> & { headers?: Record<string, string> }

export type Handler<O extends Operation> = (app: App, input: Input<O>) => Promise<Reply<O>>

/** Answers with server-sent events, until the stream's signal aborts. */
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
 * The rules of a body that its schema can't have, such as those that depend on the time: what is wrong with the members
 * that keep their own rules. The handler's use case holds valid bodies against them itself, for a repeat is answered as
 * it was whatever the time. Here they are asked where something else is wrong, so that all of it is told at once
 * (decision 10).
 */
export type BodyRules = (body: unknown) => FieldError[]

/** What polka has found out about a request. */
export type RoutedRequest = IncomingMessage & { params: Record<string, string>; query: Record<string, unknown> }

export type Endpoint = (req: RoutedRequest, res: ServerResponse) => Promise<void>

/**
 * The one way from a request to its answer: prove the caller, parse, run, answer. Whatever goes wrong on it is answered
 * here, so nothing a handler throws can end the process.
 */
export function makeEndpoint<O extends Operation>(
  app: App,
  guard: Guard,
  operation: O,
  handler: Handler<O>,
  rules?: BodyRules,
): Endpoint {
  return async (req, res) => {
    const started = performance.now()
    const requestId = requestIdOf(app, req)
    res.once('close', () => observe({ app, operation, req, res, requestId, started }))
    try {
      refuseUnacceptable(operation, req)
      const principal = await guard(operation, credentialsOf(app, req))
      const input = await parseRequest({ app, operation, req, principal, rules })
      const reply = await handler(app, input)
      checkReply(app, operation, reply)
      const headers = {
        'x-request-id': requestId,
        ...(isOpenBanking(operation.path) ? { 'x-fapi-interaction-id': requestId } : {}),
        ...(operation.csv === true ? { vary: 'accept' } : {}),
        ...reply.headers,
      }
      if (wantsCsv(operation, req)) sendCsv(res, { operation, body: reply.body, publicUrl: app.publicUrl, headers })
      else if (reply.status === 204) sendNothing(res, headers)
      else sendJson(res, reply.status, reply.body, headers)
    } catch (error) {
      sendError(res, { error, requestId, publicUrl: app.publicUrl, log: app.log.child({ operation: operation.name }) })
    }
  }
}

/** The same way to an answer that goes on: its caller is asked about again while it runs. */
export function makeStreamEndpoint<O extends Operation>(
  app: App,
  guard: Guard,
  operation: O,
  handler: StreamHandler<O>,
): Endpoint {
  return async (req, res) => {
    const started = performance.now()
    const requestId = requestIdOf(app, req)
    res.once('close', () => observe({ app, operation, req, res, requestId, started }))
    const log = app.log.child({ operation: operation.name })
    try {
      const askAgain = () => guard(operation, credentialsOf(app, req))
      const principal = await askAgain()
      const input = await parseRequest({ app, operation, req, principal, rules: undefined })
      const headers = { 'x-request-id': requestId }
      const stream = makeEventStream({ app, operation, res, headers, askAgain })
      await handler(app, { ...input, headOnly: req.method === 'HEAD' }, stream)
    } catch (error) {
      sendError(res, { error, requestId, publicUrl: app.publicUrl, log })
    }
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

/** Surface A answers JSON and nothing else, and says so to a client that takes none (decision 11). */
function refuseUnacceptable({ path }: Operation, { headers: { accept } }: IncomingMessage): void {
  if (accept === undefined || !isOpenBanking(path) || takesJson(accept)) return
  throw new DomainError('NOT_ACCEPTABLE', 'the request accepts no JSON, and the answer is nothing else', {
    next: 'send Accept: application/json',
  })
}

/** Outside production every answer is held against its declaration: a contract that is not kept is a bug, told at once. */
function checkReply(app: App, operation: Operation, reply: { status: number; body: unknown }): void {
  if (app.config.mode === 'live') return
  const schema = operation.replies[reply.status]
  if (schema === undefined) throw new Error(`${operation.name} answered the undeclared status ${reply.status}`)
  const parsed = schema.safeParse(reply.body)
  if (!parsed.success)
    throw new Error(`${operation.name} answered another shape than declared: ${z.prettifyError(parsed.error)}`)
}

type Observed = {
  app: App
  operation: Operation
  req: IncomingMessage
  res: ServerResponse
  requestId: string
  started: number
}

function observe({ app, operation, req, res, requestId, started }: Observed): void {
  const ms = performance.now() - started
  const { name, method } = operation
  // How long somebody looked on says nothing of how fast the service is.
  if (operation.stream === undefined)
    app.metrics.httpSeconds.observe({ operation: name, method, status: res.statusCode }, ms / 1000)
  const payment = /\/payments\/([0-9a-f-]{36})/.exec(req.url ?? '')?.[1]
  app.log.info(
    {
      request_id: requestId,
      operation: name,
      status: res.statusCode,
      duration_ms: Math.round(ms * 10) / 10,
      ...(payment === undefined ? {} : { payment_id: payment }),
    },
    'request',
  )
}
