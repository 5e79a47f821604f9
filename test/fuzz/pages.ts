import { randomUUID } from 'node:crypto'
import type { SeededRandom } from '../../src/lib/seeded-random.ts'
import { PLATFORM_REALM } from '../../src/lib/realms.ts'
import { HEADERS, METHODS, PATH_PARTS } from './corpora.ts'
import { hostileText, sendable } from './requests.ts'
import type { Sent } from './requests.ts'
import type { World } from './world.ts'

/** What is served beside the operations: pages of payers, banks and shops, files, descriptions, and the realms. */
const PAGES = [
  '/checkout',
  '/go',
  '/payments/return',
  '/bank/authorise',
  '/bank/return',
  '/redirect-stub',
  '/dev/mock-bank-sca',
  '/dev/merchant-harness',
  '/dev/merchant-success',
  '/dev/webhook-receiver/x',
  '/v1/checkout.js',
  '/widget/index.html',
  '/widget/x',
  '/widget-demo.html',
  '/hub',
  '/reference',
  '/errors/x',
  '/openapi.json',
  '/open-banking/v1/openapi.json',
  '/postman.json',
  '/healthz',
  '/readyz',
  '/metrics',
]
const PROTOCOL = '/protocol/openid-connect'
const OF_REALMS = [
  '/',
  '/.well-known/openid-configuration',
  `${PROTOCOL}/auth`,
  `${PROTOCOL}/auth/device`,
  `${PROTOCOL}/token`,
  `${PROTOCOL}/token/introspect`,
  `${PROTOCOL}/revoke`,
  `${PROTOCOL}/userinfo`,
  `${PROTOCOL}/logout`,
  `${PROTOCOL}/logout/confirm`,
  `${PROTOCOL}/certs`,
  `${PROTOCOL}/ext/par/request`,
  '/device',
  '/login-actions/authenticate',
  '/login-actions/reset-credentials',
  '/interaction/x',
  '/forgot',
  '/invitation',
]

/** Parameters of pages and of the protocol, each with what a good client sends. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  token: [],
  state: [],
  code: [],
  error: ['access_denied'],
  payment_id: [],
  decision: ['approve', 'cancel'],
  amount: ['10.00'],
  currency: ['GBP'],
  return_url: ['https://shop.example/'],
  client_id: ['platform-cli', 'platform-portal', 'customers-cli'],
  client_secret: [],
  redirect_uri: ['http://127.0.0.1:1/callback', 'https://evil.example/'],
  response_type: ['code', 'id_token', 'code token'],
  response_mode: ['query', 'form_post', 'fragment', 'web_message'],
  scope: ['openid', 'openid offline_access', 'accounts payments'],
  grant_type: [
    'client_credentials',
    'authorization_code',
    'refresh_token',
    'password',
    'urn:ietf:params:oauth:grant-type:device_code',
  ],
  code_challenge: ['E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'],
  code_challenge_method: ['S256', 'plain'],
  code_verifier: [],
  request: [],
  request_uri: ['https://evil.example/request'],
  claims: ['{"id_token":{"email":null}}', '{'],
  prompt: ['none', 'login', 'consent', 'create'],
  max_age: ['0', '-1', '99999999999999'],
  id_token_hint: [],
  post_logout_redirect_uri: ['https://evil.example/'],
  refresh_token: [],
  device_code: [],
  user_code: ['BCDF-GHJK'],
  username: ['ada@acme.example'],
  password: [],
  email: ['ada@acme.example'],
}

/** The addresses that responses send payers to. */
export const ADDRESSES = 'addresses'

/** A request of a page, of the identity provider, or of an address that does not exist. */
export function makePageRequest(world: World, random: SeededRandom): Sent {
  const caller = random.pick(world.callers)
  const method = random.chance(6) ? random.pick(METHODS) : random.pick(['GET', 'GET', 'POST'])
  const path = pagePath(world, random)
  const fields = parameters(random)
  const isForm = method === 'POST' && random.chance(80)
  const headers = {
    ...(random.chance(20) ? caller.headers : {}),
    ...(isForm ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    ...(random.chance(15) ? random.pick(HEADERS) : {}),
  }
  const query = isForm || fields === '' ? '' : `${path.includes('?') ? '&' : '?'}${fields}`
  const body = isForm ? fields : undefined
  return { operation: undefined, caller, method, path: path + query, headers: sendable(headers), body }
}

function pagePath({ ids, service }: World, random: SeededRandom): string {
  const known = ids.get(ADDRESSES) ?? []
  const dice = random.below(10)
  if (dice < 3 && known.length > 0) {
    const { pathname, search } = new URL(random.pick(known).id, service.url)
    // A digit or a letter of a signed address is another one.
    const at = random.below(Math.max(1, search.length))
    return pathname + (random.chance(50) ? search : `${search.slice(0, at)}0${search.slice(at + 1)}`)
  }
  if (dice < 6) return random.chance(20) ? `${random.pick(PAGES)}/${random.pick(PATH_PARTS)}` : random.pick(PAGES)
  const realm = random.pick([PLATFORM_REALM, 'customers', random.pick(PATH_PARTS), 'nowhere'])
  return `/realms/${realm}${random.pick(OF_REALMS)}`
}

function parameters(random: SeededRandom): string {
  const names = Object.keys(PARAMETERS)
  const parts = Array.from({ length: random.below(8) }, () => {
    const name = random.pick(names)
    const good = PARAMETERS[name] ?? []
    const value =
      good.length > 0 && random.chance(60) ? random.pick(good) : random.chance(20) ? randomUUID() : hostileText(random)
    return `${name}=${encodeURIComponent(value.toWellFormed().slice(0, 8_000))}`
  })
  return parts.join('&')
}
