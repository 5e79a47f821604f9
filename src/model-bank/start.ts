import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createControlServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Server } from 'node:net'
import {
  DISCOVERY_PATH,
  INTERACTION_PATH,
  PUSHED_REQUEST_PATH,
  REGISTRATION_PATH,
  TOKEN_PATH,
  makeAuthorisationServer,
} from './authorisation-server.ts'
import { answerResource } from './answer-resource.ts'
import type { Exchange } from './answer-resource.ts'
import type { Bank } from './bank.ts'
import { makeBooks } from './books.ts'
import { makeCalls } from './calls.ts'
import type { Call } from './calls.ts'
import { SERVER_HOSTS, issueServerCertificate, makeAuthority } from './certificates.ts'
import { clientCertificateOf } from './client-certificate.ts'
import { answerControl } from './control.ts'
import { makeDirectory } from './directory.ts'
import { failBefore } from './fail-on-purpose.ts'
import { makeFaults } from './faults.ts'
import { makeIdempotency } from './idempotency.ts'
import { answerPayer } from './payer-page.ts'
import type { QuirkName } from './quirks.ts'
import { answerRegistration } from './registration.ts'
import { rewriteIdTokens } from './rewrite-id-tokens.ts'
import { sendJson } from './send-json.ts'
import { makeSigningKey } from './signing-keys.ts'
import { isResourcePath, operationNameOf } from './target.ts'
import type { Version } from './versions.ts'
import { writeFiles } from './write-files.ts'

/** Loopback only: the control port has no password, and the payer's page asks for none. */
const HOST = '127.0.0.1'
const DISCOVERY_ELSEWHERE_PATH = '/discovery'
const ORG_ID = '0015800001041REAAY'

export type ModelBankOptions = {
  dir: string
  /** 0 chooses a free one. */
  port: number
  controlPort: number
  /** The addresses that payers may be sent back to, as the software statement lists them. */
  redirectUris: readonly string[]
  /** The version that the profile names; the bank speaks both. */
  version?: Version['name']
  quirks?: readonly QuirkName[]
  onExchange?: (exchange: Exchange) => void
}

export type ModelBank = {
  issuer: string
  controlUrl: string
  /** The file for SVC_BANK_PROFILES. */
  profiles: string
  /** The file for SVC_BANK_SOFTWARE_STATEMENT. */
  softwareStatement: string
  close(): Promise<void>
}

/** Starts a bank with keys, certificates and books of its own, and writes the files that a client needs into `dir`. */
export async function startModelBank(options: ModelBankOptions): Promise<ModelBank> {
  const authority = await makeAuthority()
  const tls = await issueServerCertificate(authority, { hosts: SERVER_HOSTS, validDays: 90 })
  // Any connection may come without a certificate, for payers have none. What needs one refuses by itself.
  const server = createServer({ ...tls, ca: authority.pem, requestCert: true, rejectUnauthorized: false })
  const issuer = `https://${HOST}:${String(await listen(server, options.port))}`
  const directory = await makeDirectory(authority, { issuer, redirectUris: options.redirectUris })
  const signingKey = await makeSigningKey()
  const messageKeys = [await makeSigningKey()]
  const books = makeBooks()
  const quirks = new Set(options.quirks)
  const bank: Bank = {
    issuer,
    orgId: ORG_ID,
    messageKeys,
    directory,
    strangeKey: await makeSigningKey(),
    ...makeAuthorisationServer({ issuer, signingKey, messageKeys, books, directory, quirks }),
    books,
    faults: makeFaults(),
    quirks,
    calls: makeCalls(),
    idempotency: makeIdempotency(),
    useCertificate: (certificate) => server.setSecureContext({ ...certificate, ca: authority.pem }),
    onExchange: options.onExchange ?? (() => undefined),
  }
  rewriteIdTokens(bank.provider, { key: signingKey, quirks, faults: bank.faults })
  const protocol = bank.provider.callback()
  const connectionOf = makeConnectionCounter()
  server.on('request', (req, res) => {
    res.once('close', () => bank.calls.add(callOf(req, res, connectionOf(req.socket))))
    handle(res, answer(bank, protocol, req, res))
  })
  const control = createControlServer((req, res) => handle(res, answerControl({ bank, authority }, req, res)))
  const controlPort = await listen(control, options.controlPort)
  const files = await writeFiles(options.dir, { bank, authority, version: options.version ?? '4.0' })
  return {
    issuer,
    controlUrl: `http://${HOST}:${String(controlPort)}`,
    ...files,
    close: async () => {
      await Promise.all([close(server), close(control)])
    },
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
  const interactionId = req.headers['x-fapi-interaction-id']
  return {
    at: new Date().toISOString(),
    operation: operationNameOf(req),
    status: res.writableFinished ? res.statusCode : 0,
    interactionId: typeof interactionId === 'string' ? interactionId : undefined,
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

function handle(res: ServerResponse, answered: Promise<void>): void {
  answered.catch((error: unknown) => {
    process.stderr.write(`model bank: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    if (res.headersSent) res.destroy()
    else sendJson(res, 500, { error: 'server_error' })
  })
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, () => resolve(portOf(server.address())))
  })
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  return address.port
}

function close(server: Server & { closeAllConnections?: () => void }): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections?.()
  })
}
