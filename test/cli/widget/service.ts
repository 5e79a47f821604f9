import { createHmac } from 'node:crypto'
import type { Test } from 'tap'
import { fakeService, runCli } from '../harness.ts'
import type { CliSettings, Outcome, Request } from '../harness.ts'

export const SECRET = '0123456789abcdef'.repeat(4)
export const WITH_SECRET = { SVC_WEBHOOK_SECRET: SECRET }
const MERCHANT = {
  id: '01a1fd03-f879-7eb7-872f-a2b4358c4f6d',
  trading_name: 'Acme',
  kyb_status: 'APPROVED',
  is_active: true,
}
const WHOAMI = {
  kind: 'merchant',
  realm: null,
  client_id: 'acme-server',
  subject: 'acme-server',
  name: 'acme-server',
  role: 'ADMIN',
  permissions: [],
  merchant: MERCHANT,
  expires_at: null,
}
export type Service = {
  url: string
  requests: Request[]
  run(words: string[], settings?: CliSettings): Promise<Outcome>
}

export async function service(t: Test, mode: 'sandbox' | 'live' = 'sandbox'): Promise<Service> {
  const info = { name: 'svc', version: '0.1.0', mode, identity: 'none', auth_url: null }
  const { url, requests } = await fakeService(t, ({ path }) => {
    if (path === '/api/v1/service') return { json: { ...info, platform_realm: 'p', customers_realm: 'c' } }
    return { json: WHOAMI }
  })
  const run = (words: string[], settings?: CliSettings) =>
    runCli(['checkout', ...words, '--api-url', url, '--client-id', 'acme-server'], settings)
  return { url, requests, run }
}

/** A command line that makes a token. */
export const MAKE = ['token', '--amount', '50.00', '--currency', 'gbp']

export function contentOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.trim().split('.')[0] ?? '', 'base64').toString('utf8'))
}

export function tokenOf(content: object, secret?: string): string {
  const text = Buffer.from(JSON.stringify(content)).toString('base64')
  return secret === undefined ? text : `${text}.${createHmac('sha256', secret).update(text).digest('hex')}`
}

/** What a good token says. */
export const GOOD = {
  amount: '50.00',
  currency: 'GBP',
  merchantName: 'Acme',
  apiUrl: 'https://pay.example',
  returnUrl: 'https://shop.example/thanks',
  merchantClientId: 'acme-server',
  callbackOrigin: 'https://shop.example',
}
