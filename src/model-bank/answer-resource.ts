import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { alterAnswer } from './alter-answer.ts'
import type { Bank } from './bank.ts'
import { BankError } from './bank-error.ts'
import { checkBody, checkHeaders, checkToken } from './check-request.ts'
import { failAfter } from './fail-on-purpose.ts'
import { signMessage } from './message-signature.ts'
import { OPERATIONS } from './operations.ts'
import type { Operation } from './operations.ts'
import type { ResourceAnswer } from './resource.ts'
import { readBody } from './read-body.ts'
import type { Quirks } from './quirks.ts'
import { resourceTargetOf } from './target.ts'
import type { ResourceTarget } from './target.ts'
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
  const target = resourceTargetOf(req)
  const body = await readBody(req)
  const operation = target.operation?.name ?? 'unknown'
  const genuine = await carryOut(bank, req, { target, body }).catch((error: unknown) => describe(error, target.version))
  const answer = alterAnswer(bank.faults, operation, genuine)
  const text = answer.body === undefined ? '' : JSON.stringify(answer.body)
  const headers = await headersOf(bank, req, { text, operation })
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
  const { status } = answer
  if (failAfter(bank.faults, operation, { res, headers, text, status })) return
  res.writeHead(status, headers).end(text)
}

async function carryOut(
  bank: Bank,
  req: IncomingMessage,
  { target, body }: { target: ResourceTarget; body: Buffer },
): Promise<ResourceAnswer> {
  const { operation, version, path, id } = target
  if (operation === undefined || isHidden(operation, bank.quirks)) {
    const isKnown = operation === undefined && OPERATIONS.some((each) => each.path.test(path))
    throw isKnown
      ? new BankError('UK.OBIE.MethodNotAllowed', `${req.method ?? ''} is not a method of ${path}`)
      : new BankError('UK.OBIE.Resource.NotFound', `${path} is not a resource`)
  }
  const token = await checkToken(req, bank, operation)
  checkHeaders(req, operation, bank)
  const { books, faults, quirks } = bank
  const isPost = operation.method === 'POST'
  const parsed = isPost ? await checkBody(req, { body, clientId: token.clientId, bank }) : undefined
  const baseUrl = `${bank.issuer}${version.basePath}`
  const run = (): ResourceAnswer =>
    operation.answer({ books, faults, quirks, version, baseUrl, id, token, body: parsed })
  if (!operation.isIdempotent) return run()
  const key = `${token.clientId} ${version.name} ${operation.name} ${String(req.headers['x-idempotency-key'])}`
  if (!(await faults.hold(key, operation.name)))
    throw new BankError('UK.OBIE.Header.Invalid', 'a request with this x-idempotency-key is not done yet')
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

const FUNDS = ['confirmFunds', 'confirmVrpFunds']
const DETAILS = ['showPaymentDetails', 'showVrpDetails']

function isHidden({ name }: Operation, quirks: Quirks): boolean {
  return (
    (quirks.has('no_funds_confirmation') && FUNDS.includes(name)) ||
    (quirks.has('no_payment_details') && DETAILS.includes(name))
  )
}

async function headersOf(
  bank: Bank,
  req: IncomingMessage,
  { text, operation }: { text: string; operation: string },
): Promise<Record<string, string>> {
  const given = req.headers['x-fapi-interaction-id']
  const interactionId = { 'x-fapi-interaction-id': typeof given === 'string' ? given : crypto.randomUUID() }
  if (text === '') return interactionId
  const headers = { ...interactionId, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
  if (bank.quirks.has('unsigned_responses') || bank.faults.take('missing_signature', operation)) return headers
  const genuine = bank.messageKeys.at(-1) ?? bank.strangeKey
  const key = bank.faults.take('wrong_signature', operation) ? bank.strangeKey : genuine
  // The strange key comes under the bank's own id: only the signature gives it away.
  const signer = { key: { ...key, kid: genuine.kid }, issuer: bank.orgId, b64: !bank.quirks.has('b64_header') }
  return { ...headers, 'x-jws-signature': await signMessage(Buffer.from(text), signer) }
}
