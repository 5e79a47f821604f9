import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SignJWT, FlattenedSign, importPKCS8 } from 'jose'
import type { CryptoKey, JWTPayload } from 'jose'
import { Agent, request } from 'undici'
import { REDIRECT_URI, decideAtBank } from '../support/model-bank.ts'
import type { TestBank } from '../support/model-bank.ts'

/*
 * A payment initiation service that does everything right, in as few lines as that takes, and in which a test can change
 * any one thing. It shares no code with the service's own connector.
 */
export type Client = {
  bank: ClientBank
  statement: Statement
  signingKey: CryptoKey
  dispatcher: Agent
  clientId: string
}

/** What a client is told of a bank. */
export type ClientBank = Pick<TestBank, 'issuer' | 'softwareStatement' | 'dir' | 'ca'>

export type Statement = {
  org_id: string
  software_id: string
  ssa: string
  transport: { cert: string; key: string }
  signing: { kid: string; key: string }
}

export type Answer = { status: number; headers: Record<string, unknown>; body: Record<string, any>; text: string }

export async function makeClient(bank: ClientBank): Promise<Client> {
  const statement = JSON.parse(await readFile(bank.softwareStatement, 'utf8')) as Statement
  const read = (name: string): Promise<string> => readFile(join(bank.dir, name), 'utf8')
  const [cert, key] = [await read(statement.transport.cert), await read(statement.transport.key)]
  return {
    bank,
    statement,
    signingKey: await importPKCS8(await read(statement.signing.key), 'PS256'),
    dispatcher: new Agent({ connect: { ca: bank.ca, cert, key } }),
    clientId: '',
  }
}

export async function makeRegisteredClient(bank: ClientBank, changes: JWTPayload = {}): Promise<Client> {
  const client = await makeClient(bank)
  const { status, body, text } = await register(client, changes)
  if (status !== 201) throw new Error(text)
  return { ...client, clientId: String(body['client_id']) }
}

function signJwt({ statement, signingKey }: Client, claims: JWTPayload, alg = 'PS256'): Promise<string> {
  return new SignJWT({ jti: crypto.randomUUID(), ...claims })
    .setProtectedHeader({ alg, kid: statement.signing.kid, typ: 'JWT' })
    .setIssuedAt()
    .setExpirationTime(claims.exp ?? '5m')
    .sign(signingKey)
}

export async function register(
  client: Client,
  changes: JWTPayload = {},
  contentType = 'application/jwt',
): Promise<Answer> {
  const { statement, bank } = client
  const body = await signJwt(client, {
    iss: statement.software_id,
    aud: bank.issuer,
    software_statement: (await readFile(join(bank.dir, statement.ssa), 'utf8')).trim(),
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'PS256',
    grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
    response_types: ['code id_token'],
    application_type: 'web',
    id_token_signed_response_alg: 'PS256',
    request_object_signing_alg: 'PS256',
    scope: 'openid payments',
    ...changes,
  })
  return send(client, 'POST', `${bank.issuer}/register`, { headers: { 'content-type': contentType }, body })
}

export async function fetchJson(client: Client, path: string): Promise<Record<string, any>> {
  return (await send(client, 'GET', `${client.bank.issuer}${path}`, { headers: {}, body: undefined })).body
}

export async function callToken(
  client: Client,
  parameters: Record<string, string>,
  changes: JWTPayload = {},
  path = '/token',
): Promise<Answer> {
  const assertion = await signJwt(client, {
    iss: client.clientId,
    sub: client.clientId,
    aud: `${client.bank.issuer}/token`,
    ...changes,
  })
  const body = new URLSearchParams({
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
    ...parameters,
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return send(client, 'POST', `${client.bank.issuer}${path}`, { headers, body: body.toString() })
}

export async function clientToken(client: Client): Promise<string> {
  const { status, body, text } = await callToken(client, { grant_type: 'client_credentials', scope: 'payments' })
  if (status !== 200) throw new Error(text)
  return String(body['access_token'])
}

export async function signBody(client: Client, body: string, changes: Record<string, unknown> = {}): Promise<string> {
  const { org_id: orgId, software_id: softwareId, signing } = client.statement
  const claims = ['http://openbanking.org.uk/iat', 'http://openbanking.org.uk/iss', 'http://openbanking.org.uk/tan']
  const header = {
    alg: 'PS256',
    kid: signing.kid,
    'http://openbanking.org.uk/iat': Math.floor(Date.now() / 1_000),
    'http://openbanking.org.uk/iss': `${orgId}/${softwareId}`,
    'http://openbanking.org.uk/tan': 'openbanking.org.uk',
    crit: claims,
    ...changes,
  }
  const crit = Object.fromEntries(claims.map((claim) => [claim, true]))
  const jws = await new FlattenedSign(Buffer.from(body)).setProtectedHeader(header).sign(client.signingKey, { crit })
  return `${String(jws.protected)}..${jws.signature}`
}

export type CallChanges = {
  token?: string
  version?: 'v4.0' | 'v3.1'
  headers?: Record<string, string | undefined>
  signature?: Record<string, unknown>
}

/** One call of a resource, signed where it has a body. */
export async function call(
  client: Client,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { token, version = 'v4.0', headers = {}, signature, body }: CallChanges & { body?: unknown } = {},
): Promise<Answer> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const all: Record<string, string | undefined> = {
    authorization: `Bearer ${token ?? (await clientToken(client))}`,
    'x-fapi-interaction-id': crypto.randomUUID(),
    ...(text === undefined
      ? {}
      : {
          'content-type': 'application/json',
          'x-idempotency-key': crypto.randomUUID(),
          'x-jws-signature': await signBody(client, text, signature),
        }),
    ...headers,
  }
  const present = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  return send(client, method, `${client.bank.issuer}/open-banking/${version}/pisp${path}`, {
    headers: present,
    body: text,
  })
}

async function send(
  { dispatcher }: Client,
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  { headers, body }: { headers: Record<string, string>; body: string | undefined },
): Promise<Answer> {
  const answer = await request(url, { dispatcher, method, headers, ...(body === undefined ? {} : { body }) })
  const text = await answer.body.text()
  const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : {}
  return { status: answer.statusCode, headers: answer.headers, body: parsed as Record<string, any>, text }
}

/** The address that a payer's browser is sent to. */
export async function authoriseAddress(client: Client, consentId: string, changes: JWTPayload = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1_000)
  const claims = {
    iss: client.clientId,
    aud: client.bank.issuer,
    response_type: 'code id_token',
    client_id: client.clientId,
    redirect_uri: REDIRECT_URI,
    scope: 'openid payments',
    state: 'state-of-the-payment',
    nonce: 'nonce-of-the-visit',
    nbf: now,
    exp: now + 300,
    max_age: 3_600,
    claims: {
      id_token: {
        openbanking_intent_id: { value: consentId, essential: true },
        acr: { essential: true, values: ['urn:openbanking:psd2:sca'] },
      },
    },
    ...changes,
  }
  const query = new URLSearchParams({
    response_type: 'code id_token',
    client_id: client.clientId,
    scope: 'openid payments',
    request: await signJwt(client, claims),
  })
  return `${client.bank.issuer}/authorize?${query.toString()}`
}

export function paymentConsent(changes: Record<string, unknown> = {}): {
  Data: Record<string, any>
  Risk: Record<string, any>
} {
  return {
    Data: {
      ReadRefundAccount: 'Yes',
      Initiation: {
        InstructionIdentification: 'SVC-1',
        EndToEndIdentification: 'SVC0123456789abcdef0123456789abcdef',
        InstructedAmount: { Amount: '12.50', Currency: 'GBP' },
        CreditorAccount: {
          SchemeName: 'UK.OBIE.SortCodeAccountNumber',
          Identification: '20000055779911',
          Name: 'A Merchant',
        },
        RemittanceInformation: { Unstructured: ['Order 1'] },
        ...changes,
      },
    },
    Risk: { PaymentContextCode: 'EcommerceMerchantInitiatedPayment', ContractPresentIndicator: true },
  }
}

/** A payer's token for a consent that the payer has just approved at the bank. */
export async function approvedToken(client: Client, consentId: string, account?: string): Promise<Tokens> {
  const choice = account === undefined ? {} : { account }
  const returned = await decideAtBank(client.bank, await authoriseAddress(client, consentId), choice)
  return exchange(client, new URLSearchParams(returned.hash.slice(1)).get('code') ?? '')
}

export type Tokens = { access: string; refresh: string | undefined }

export async function exchange(client: Client, code: string): Promise<Tokens> {
  const answer = await callToken(client, { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI })
  if (answer.status !== 200) throw new Error(answer.text)
  const { access_token: access, refresh_token: refresh } = answer.body
  return { access: String(access), refresh: refresh === undefined ? undefined : String(refresh) }
}

/** A staged payment consent's id. */
export async function stage(client: Client, order = paymentConsent(), changes: CallChanges = {}): Promise<string> {
  const answer = await call(client, 'POST', '/domestic-payment-consents', { ...changes, body: order })
  if (answer.status !== 201) throw new Error(answer.text)
  return String(answer.body['Data'].ConsentId)
}

/** The order for a payment as the consent has it. */
export function paymentOrder(
  consentId: string,
  { Data, Risk } = paymentConsent(),
): { Data: Record<string, any>; Risk: Record<string, any> } {
  return { Data: { ConsentId: consentId, Initiation: Data['Initiation'] }, Risk }
}
