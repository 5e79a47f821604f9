import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import {
  DISCOVERY_PATH,
  INTERACTION_PATH,
  PUSHED_REQUEST_PATH,
  REGISTRATION_PATH,
  TOKEN_PATH,
} from './authorisation-server.ts'
import { answerResource } from './answer-resource.ts'
import type { Bank } from './bank.ts'
import type { Call } from './calls.ts'
import { clientCertificateOf } from './client-certificate.ts'
import { failBefore } from './fail-on-purpose.ts'
import { answerPayer } from './payer-page.ts'
import { answerRegistration } from './registration.ts'
import { sendJson } from './send-json.ts'
import { isResourcePath, operationNameOf } from './target.ts'

const DISCOVERY_ELSEWHERE_PATH = '/discovery'

/** Answers everything that the bank is asked over TLS; `onAnswered` is called after each answer. */
export function makeListener(bank: Bank, onAnswered: () => void): RequestListener {
  const protocol = bank.provider.callback()
  const connectionOf = makeConnectionCounter()
  return (req, res) => {
    const connection = connectionOf(req.socket)
    res.once('close', () => {
      bank.calls.add(callOf(req, res, connection))
      onAnswered()
    })
    reportFailure(res, answer(bank, protocol, req, res))
  }
}

type Protocol = ReturnType<Bank['provider']['callback']>

async function answer(bank: Bank, protocol: Protocol, req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (await failBefore(bank.faults, operationNameOf(req), { req, res })) return
  const [path = '/'] = (req.url ?? '/').split('?')
  if (isResourcePath(path)) return answerResource(bank, req, res)
  if (path === REGISTRATION_PATH && req.method === 'POST' && !bank.quirks.has('no_registration_endpoint')) {
    return answerRegistration(bank, req, res)
  }
  if (path.startsWith(`${INTERACTION_PATH}/`)) return answerPayer(bank, req, res)
  const [, softwareId] = /^\/directory\/([a-zA-Z0-9]+)\.jwks$/.exec(path) ?? []
  if (softwareId !== undefined) return sendJson(res, 200, bank.directory.keysOf(softwareId))
  if ([TOKEN_PATH, PUSHED_REQUEST_PATH].includes(path) && clientCertificateOf(req) === undefined) {
    return sendJson(res, 401, { error: 'invalid_client', error_description: 'a valid client certificate is required' })
  }
  if (bank.quirks.has('discovery_elsewhere') && [DISCOVERY_PATH, DISCOVERY_ELSEWHERE_PATH].includes(path)) {
    if (path === DISCOVERY_PATH) return sendJson(res, 404, { error: 'not_found' })
    req.url = DISCOVERY_PATH
  }
  if (path === PUSHED_REQUEST_PATH && !bank.quirks.has('pushed_requests'))
    return sendJson(res, 404, { error: 'not_found' })
  await protocol(req, res)
}

function callOf(req: IncomingMessage, res: ServerResponse, connection: number): Call {
  const { traceparent, 'x-fapi-interaction-id': interactionId } = req.headers
  return {
    at: new Date().toISOString(),
    operation: operationNameOf(req),
    status: res.writableFinished ? res.statusCode : 0,
    interactionId: typeof interactionId === 'string' ? interactionId : undefined,
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    connection,
  }
}

function makeConnectionCounter(): (socket: object) => number {
  const numbers = new WeakMap<object, number>()
  let count = 0
  return (socket) => {
    const number = numbers.get(socket) ?? (count += 1)
    numbers.set(socket, number)
    return number
  }
}

/** A failure of the bank itself, which no fault explains. */
export function reportFailure(res: ServerResponse, answered: Promise<void>): void {
  answered.catch((error: unknown) => {
    process.stderr.write(`model bank: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    if (res.headersSent) res.destroy()
    else sendJson(res, 500, { error: 'server_error' })
  })
}
