import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { recordAction } from '../../audit/record-action.ts'
import type { Actor } from '../../audit/record.ts'
import { BankSilentError, makeBankClient } from '../bank-client.ts'
import type { BankClient } from '../bank-client.ts'
import { BankAnswerError, discover, jsonOf } from '../discovery.ts'
import type { BankMetadata } from '../discovery.ts'
import { consentBody } from '../obie/bodies.ts'
import { makeSigner } from '../obie/signing.ts'
import type { Signer } from '../obie/signing.ts'
import { putAnswer } from '../outages/sql.ts'
import type { BankProfile } from '../profiles.ts'
import { errorTextOf } from '../registration-request.ts'
import { needProfile } from './need-profile.ts'
import { TEST_STEPS } from './record.ts'
import type { TestRow, TestStep } from './record.ts'
import { needStatement } from './software-statement.ts'
import { findRegistration, putTest } from './sql.ts'

/**
 * Tries a bank without a payer and without money: its configuration, its keys, a token over mutual TLS, and a consent
 * that is never authorised, and lapses by itself. What the bank says is the result, not an error.
 * @throws {DomainError} BANK_NOT_FOUND, SOFTWARE_STATEMENT_MISSING
 */
export async function testBank(
  app: Pick<App, 'pool' | 'sealer' | 'bankSetup' | 'ids' | 'config'>,
  { bankId, actor }: { bankId: string; actor: Actor },
): Promise<TestRow> {
  const profile = needProfile(app, bankId)
  const statement = await needStatement(app)
  const registration = await findRegistration(app.pool, { bankId, softwareId: statement.software_id })
  const clientId = profile.client.client_id ?? registration?.client_id
  const client = makeBankClient(profile, statement)
  const steps = await runSteps({
    profile,
    signer: makeSigner(statement),
    clientId,
    client,
    account: app.config.collectionAccount,
  }).finally(() => client.close())
  const passed = steps.length === TEST_STEPS.length && steps.every((step) => step.passed)
  return app.pool.transaction(async (tx) => {
    await recordAction(app, tx, {
      actor,
      action: 'bank.test',
      merchantId: null,
      subjectId: bankId,
      after: { passed, failed_step: steps.find((step) => !step.passed)?.step ?? null },
    })
    // Payers are offered it again.
    if (passed) await putAnswer(tx, bankId)
    return putTest(tx, { bankId, steps, passed, testedBy: actor.name })
  })
}

type Scene = {
  profile: BankProfile
  signer: Signer
  clientId: string | undefined
  client: BankClient
  account: App['config']['collectionAccount']
}

/** Each step needs what the one before found; the first that fails ends the test. */
async function runSteps(scene: Scene): Promise<TestStep[]> {
  const steps: TestStep[] = []
  const attempt = async <T>(step: TestStep['step'], work: () => Promise<[detail: string, found: T]>): Promise<T> => {
    const [detail, found] = await work().catch((error: unknown) => {
      if (!(error instanceof BankAnswerError) && !(error instanceof BankSilentError)) throw error
      steps.push({ step, passed: false, detail: error.message })
      throw new TestEnded()
    })
    steps.push({ step, passed: true, detail })
    return found
  }
  try {
    const metadata = await attempt('discovery', () => readMetadata(scene))
    await attempt('keys', () => readKeys(scene, metadata))
    const token = await attempt('token', () => readToken(scene, metadata))
    const consentId = await attempt('consent', () => createConsent(scene, token))
    await attempt('read', () => readConsent(scene, token, consentId))
  } catch (error) {
    if (!(error instanceof TestEnded)) throw error
  }
  return steps
}

class TestEnded extends Error {}

async function readMetadata({ client, profile }: Scene): Promise<[string, BankMetadata]> {
  const metadata = await discover(client, profile)
  return [metadata.issuer, metadata]
}

async function readKeys({ client }: Scene, { jwks_uri: url }: BankMetadata): Promise<[string, undefined]> {
  const { status, body } = await client.send({ method: 'GET', url })
  const parsed = z.object({ keys: z.array(z.looseObject({})).min(1) }).safeParse(jsonOf(body))
  if (status !== 200 || !parsed.success) throw new BankAnswerError(`${url} answered ${status} without a key`)
  return [`${parsed.data.keys.length} keys`, undefined]
}

async function readToken(scene: Scene, metadata: BankMetadata): Promise<[string, string]> {
  const { clientId, client } = scene
  if (clientId === undefined) throw new BankAnswerError('not registered: svc banks connect')
  const credentials = await clientCredentials(scene, metadata, clientId)
  const answer = await client.send({
    method: 'POST',
    url: metadata.token_endpoint,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'payments', ...credentials }).toString(),
  })
  const json = jsonOf(answer.body)
  const parsed = z.object({ access_token: z.string().min(1) }).safeParse(json)
  if (answer.status !== 200 || !parsed.success)
    throw new BankAnswerError(`the bank answered ${answer.status}${errorTextOf(json)}`)
  return ['a token over mutual TLS', parsed.data.access_token]
}

const ASSERTION_SECONDS = 60

/** What proves the client: a signed assertion, or the certificate of the connection alone. */
async function clientCredentials(
  { profile, signer }: Scene,
  metadata: BankMetadata,
  clientId: string,
): Promise<Record<string, string>> {
  if (profile.client.token_auth === 'tls_client_auth') return { client_id: clientId }
  const aud = profile.client.audience === 'issuer' ? profile.issuer : metadata.token_endpoint
  const exp = Math.floor(Date.now() / 1_000) + ASSERTION_SECONDS
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await signer.jwt({ iss: clientId, sub: clientId, aud, exp }),
  }
}

const Consent = z.object({ Data: z.object({ ConsentId: z.string().min(1), Status: z.string() }) })
const BankErrors = z.object({
  Errors: z.array(z.object({ ErrorCode: z.string(), Message: z.string().optional() })).min(1),
})

async function createConsent(scene: Scene, token: string): Promise<[string, string]> {
  const { profile, signer, client, account } = scene
  if (account === undefined) throw new BankAnswerError('SVC_COLLECTION_ACCOUNT is not set')
  const body = JSON.stringify(testConsent(profile, account))
  const answer = await client.send({
    method: 'POST',
    url: `${profile.payments.base_url}/domestic-payment-consents`,
    headers: {
      ...resourceHeaders(profile, token),
      'content-type': 'application/json',
      'x-idempotency-key': createHash('sha256').update(body).digest('hex').slice(0, 40),
      'x-jws-signature': await signer.detached(Buffer.from(body), { b64Header: profile.quirks.includes('b64_header') }),
    },
    body,
  })
  const { ConsentId, Status } = consentOf(answer, 201)
  return [`${ConsentId} is ${Status}`, ConsentId]
}

async function readConsent(scene: Scene, token: string, consentId: string): Promise<[string, undefined]> {
  const { profile, client } = scene
  const url = `${profile.payments.base_url}/domestic-payment-consents/${encodeURIComponent(consentId)}`
  const { Status } = consentOf(await client.send({ method: 'GET', url, headers: resourceHeaders(profile, token) }), 200)
  return [`${Status}; it is never authorised, so it lapses`, undefined]
}

function resourceHeaders(profile: BankProfile, token: string): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    'x-fapi-interaction-id': randomUUID(),
    ...(profile.financial_id === undefined ? {} : { 'x-fapi-financial-id': profile.financial_id }),
  }
}

function consentOf(
  { status, body }: { status: number; body: string },
  expected: number,
): z.infer<typeof Consent>['Data'] {
  const json = jsonOf(body)
  const parsed = Consent.safeParse(json)
  if (status === expected && parsed.success) return parsed.data.Data
  const errors = BankErrors.safeParse(json)
  const [first] = errors.success ? errors.data.Errors : []
  const why = first === undefined ? '' : `: ${first.ErrorCode} ${first.Message ?? ''}`.slice(0, 300).trimEnd()
  throw new BankAnswerError(`the bank answered ${status}${why}`)
}

function testConsent(profile: BankProfile, account: NonNullable<App['config']['collectionAccount']>): object {
  const endToEndId = `SVC${randomUUID().replaceAll('-', '')}`
  const creditor = { SchemeName: account.scheme, Identification: account.identification, Name: account.name }
  const order = { endToEndId, amount: '1.0000', currency: 'GBP', debtorAccount: undefined, remittanceReference: 'test' }
  return consentBody({ ...order, mandate: undefined }, { profile, creditor })
}
