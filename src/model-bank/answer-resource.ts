import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Bank } from './bank.ts'
import { BankError } from './bank-error.ts'
import { checkBody, checkHeaders, checkToken } from './check-request.ts'
import { signMessage } from './message-signature.ts'
import { OPERATIONS } from './operations.ts'
import type { Operation } from './operations.ts'
import type { ResourceAnswer } from './resource.ts'
import { readBody } from './read-body.ts'
import { VERSIONS } from './versions.ts'
import type { Version } from './versions.ts'

/** One request for a resource and its answer, for tests that check both against the official description. */
export type Exchange = {
  version: Version['name']
  method: string
  /** Below the version's base path. */
  path: string
  headers: IncomingMessage['headers']
  requestBody: string
  status: number
  answerHeaders: Record<string, string>
  answerBody: string
}

/** Answers requests below the base paths of the versions. */
export async function answerResource(bank: Bank, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const target = targetOf(req)
  const body = await readBody(req)
  const answer = await carryOut(bank, req, { target, body }).catch((error: unknown) => describe(error, target.version))
  const text = answer.body === undefined ? '' : JSON.stringify(answer.body)
  const headers = await headersOf(bank, req, text)
  bank.onExchange({
    version: target.version.name,
    method: req.method ?? 'GET',
    path: target.path,
    headers: req.headers,
    requestBody: body.toString('utf8'),
    status: answer.status,
    answerHeaders: headers,
    answerBody: text,
  })
  res.writeHead(answer.status, headers).end(text)
}

type Target = { version: Version; path: string; operation: Operation | undefined; id: string }

export function isResourcePath(path: string): boolean {
  return VERSIONS.some(({ basePath }) => path.startsWith(`${basePath}/`))
}

function targetOf({ method, url = '' }: IncomingMessage): Target {
  const [full = ''] = url.split('?')
  const version = VERSIONS.find(({ basePath }) => full.startsWith(`${basePath}/`))
  if (version === undefined) throw new Error(`not a path of resources: ${full}`)
  const path = full.slice(version.basePath.length)
  const operation = OPERATIONS.find((each) => each.method === method && each.path.test(path))
  return { version, path, operation, id: operation?.path.exec(path)?.[1] ?? '' }
}

async function carryOut(
  bank: Bank,
  req: IncomingMessage,
  { target, body }: { target: Target; body: Buffer },
): Promise<ResourceAnswer> {
  const { operation, version, path, id } = target
  if (operation === undefined) {
    const isKnown = OPERATIONS.some((each) => each.path.test(path))
    throw isKnown
      ? new BankError('UK.OBIE.MethodNotAllowed', `${req.method ?? ''} is not a method of ${path}`)
      : new BankError('UK.OBIE.Resource.NotFound', `${path} is not a resource`)
  }
  const token = await checkToken(req, bank.provider, operation)
  checkHeaders(req, operation)
  const { directory, books, faults } = bank
  const isPost = operation.method === 'POST'
  const parsed = isPost ? await checkBody(req, { body, clientId: token.clientId, directory, books }) : undefined
  const baseUrl = `${bank.issuer}${version.basePath}`
  const run = (): ResourceAnswer => operation.answer({ books, faults, version, baseUrl, id, token, body: parsed })
  if (!operation.isIdempotent) return run()
  const key = `${token.clientId} ${version.name} ${operation.name} ${String(req.headers['x-idempotency-key'])}`
  return bank.idempotency.once(key, createHash('sha256').update(body).digest('hex'), run)
}

function describe(error: unknown, version: Version): ResourceAnswer {
  const refusal =
    error instanceof BankError ? error : new BankError('UK.OBIE.UnexpectedError', String(error), { cause: error })
  const { status, message, path } = refusal
  const detail = {
    ErrorCode: version.errorCode(refusal),
    Message: message.slice(0, 500),
    ...(path ? { Path: path } : {}),
  }
  const body = {
    Code: `${String(status)} ${refusal.code}`.slice(0, 40),
    Id: crypto.randomUUID(),
    Message: 'refused',
    Errors: [detail],
  }
  return { status, body }
}

async function headersOf(bank: Bank, req: IncomingMessage, text: string): Promise<Record<string, string>> {
  const given = req.headers['x-fapi-interaction-id']
  const interactionId = typeof given === 'string' ? given : crypto.randomUUID()
  if (text === '') return { 'x-fapi-interaction-id': interactionId }
  const signer = { key: bank.signingKey, issuer: bank.orgId, b64: true }
  return {
    'content-type': 'application/json; charset=utf-8',
    'x-fapi-interaction-id': interactionId,
    'x-jws-signature': await signMessage(Buffer.from(text), signer),
    'cache-control': 'no-store',
  }
}
