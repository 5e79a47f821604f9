import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { SCRATCH } from '../../support/scratch.ts'
import { PAYMENT_ID, fakeService, runCli } from '../harness.ts'
import type { Answer, CliSettings, Outcome, Request } from '../harness.ts'

export const AT = '2026-11-21T09:30:00.000Z'
export const CONSENT_ID = '01a1fd03-0000-7eb7-872f-a2b4358c0011'
export const TOKEN = 'kq3-Vw_x0123456789abcdefghijklmnopqrstuvwxy'
export const SESSION = {
  session_token: 'eyJ.session.token',
  token_type: 'Bearer',
  expires_in: 900,
  contact: 'a…@example.org',
}

export const PAYMENT = {
  payment_id: PAYMENT_ID,
  status: 'Settled',
  end_to_end_id: 'SVC1',
  merchant_name: 'Acme',
  gross_amount: '50.00',
  fee_amount: '0.70',
  net_amount: '49.30',
  refunded_amount: '0.00',
  currency: 'GBP',
  remittance_reference: 'order 1',
  debtor_bank_id: 'mock-albion',
  bank_name: 'Albion Bank',
  consent_id: CONSENT_ID,
  is_recurring: false,
  failure: null,
  dispute: null,
  is_disputable: true,
  created_at: AT,
  updated_at: AT,
}
export const RECEIPT = {
  ...PAYMENT,
  status_history: [
    { ordinal: '1', previous_status: null, new_status: 'Initiated', changed_by: 'MERCHANT_API', created_at: AT },
  ],
  refunds: [{ amount: '5.00', refunded_at: AT }],
  can_mail_receipt: true,
}
export const CONSENT = {
  consent_id: CONSENT_ID,
  status: 'AUTHORISED',
  merchant_name: 'Acme',
  currency: 'GBP',
  max_amount_per_payment: '20.00',
  allowances: [{ period: 'MONTH', max_amount: '60.00', used_amount: '9.99', remaining_amount: '50.01', resets_at: AT }],
  caps_enforced: true,
  remittance_reference: null,
  bank_name: null,
  payment_count: 3,
  last_payment_at: null,
  valid_to: '2027-11-21T09:30:00.000Z',
  created_at: AT,
}
const DISPUTE = {
  id: '01a1fd03-0000-7eb7-872f-a2b4358c0009',
  payment_id: PAYMENT_ID,
  status: 'OPEN',
  reason: 'ITEM_NOT_RECEIVED',
  payer_statement: 'nothing came',
  opened_at: AT,
}

export function answerTo({ method, path }: Request): Answer {
  if (path === '/api/v1/payer/auth/request-link') return { status: 202, json: { status: 'sent' } }
  if (path === '/api/v1/payer/auth/verify') return { json: SESSION }
  if (path === '/api/v1/payer/auth/sign-out') return { json: { status: 'signed_out' } }
  if (path === '/api/v1/payer/payments') return { json: { data: [PAYMENT] } }
  if (path === '/api/v1/payer/consents') return { json: { data: [CONSENT] } }
  if (method === 'DELETE') return { json: { consent_id: CONSENT_ID, status: 'REVOKED' } }
  if (path.endsWith('/receipt'))
    return { status: 202, json: { payment_id: PAYMENT_ID, status: 'sent', contact: SESSION.contact } }
  if (path.endsWith('/dispute')) return { status: 201, json: DISPUTE }
  return { json: RECEIPT }
}

export type Hub = {
  configDir: string
  /** Without the questions for the service's mode. */
  asked(): Request[]
  run(words: string[], settings?: CliSettings): Promise<Outcome>
}

export async function hub(
  t: Test,
  answer: (request: Request) => Answer = answerTo,
  mode: 'sandbox' | 'live' = 'sandbox',
): Promise<Hub> {
  const info = { name: 'svc', version: '0.1.0', mode, identity: 'none', auth_url: null }
  const { url, requests } = await fakeService(t, (request) =>
    request.path === '/api/v1/service'
      ? { json: { ...info, platform_realm: 'p', customers_realm: 'c' } }
      : answer(request),
  )
  const configDir = mkdtempSync(join(SCRATCH, 'svc-payer-'))
  return {
    configDir,
    asked: () => requests.filter(({ path }) => path !== '/api/v1/service'),
    run: (words, { env = {}, ...settings } = {}) =>
      runCli([...(words[1] === 'mandates' ? [] : ['payer']), ...words, '--api-url', url], {
        ...settings,
        env: { SVC_CONFIG_DIR: configDir, ...env },
      }),
  }
}

export async function signedIn(t: Test, answer = answerTo, mode: 'sandbox' | 'live' = 'sandbox'): Promise<Hub> {
  const payer = await hub(t, answer, mode)
  t.match(await payer.run(['verify', '-'], { stdin: TOKEN }), { code: 0 })
  return payer
}
