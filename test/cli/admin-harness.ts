import type { Test } from 'tap'
import { fakeService, runCli, serviceInfo } from './harness.ts'
import type { Answer, CliSettings, Outcome, Request } from './harness.ts'

export const MERCHANT_ID = '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'
const AT = '2026-11-21T09:30:00.000Z'

/** A merchant as operators see it. */
export function merchantOf(more: object = {}): Record<string, unknown> {
  return {
    id: MERCHANT_ID,
    client_id: 'acme-server',
    legal_name: 'Acme Ltd',
    trading_name: 'Acme',
    name: 'Acme',
    kyb_status: 'PENDING',
    fee_percentage: '0.0100',
    fee_flat: '0.20',
    currencies: ['GBP', 'EUR'],
    payment_amount_max: '1000000.00',
    settlement_schedule: 'DAILY',
    webhook_url: null,
    is_active: true,
    realm_slug: 'acme',
    admin_email: 'ada@acme.example',
    payout_held: false,
    payout_held_at: null,
    payout_held_by: null,
    created_at: AT,
    updated_at: AT,
    ...more,
  }
}

export function actionOf(more: object = {}): Record<string, unknown> {
  return {
    ordinal: '7',
    action: 'merchant.kyb',
    actor: 'grace@pay.example',
    actor_id: '01a1fd03-0000-7eb7-872f-000000000001',
    actor_role: 'OPS',
    merchant_id: MERCHANT_ID,
    realm_slug: 'acme',
    subject_id: MERCHANT_ID,
    reason: 'documents checked',
    before: { kyb_status: 'PENDING' },
    after: { kyb_status: 'APPROVED' },
    created_at: AT,
    action_hash: 'ab'.repeat(32),
    ...more,
  }
}

export const DISPUTE_ID = '01a1fd03-0000-7eb7-872f-a2b4358c0009'

/** A dispute as its merchant sees it. */
export function disputeOf(more: object = {}): Record<string, unknown> {
  return {
    id: DISPUTE_ID,
    payment_id: '01a1fd03-0000-7eb7-872f-a2b4358c0010',
    merchant_id: MERCHANT_ID,
    end_to_end_id: 'SVC1',
    opened_by: 'PAYER',
    reason: 'OTHER',
    status: 'UNDER_REVIEW',
    gross_amount: '50.00',
    refundable_amount: '50.00',
    currency: 'GBP',
    payer_statement: null,
    statement: null,
    merchant_evidence: null,
    has_evidence: false,
    evidence_due_at: AT,
    evidence_missing: false,
    resolution_note: null,
    refund: null,
    opened_at: AT,
    updated_at: AT,
    resolved_at: null,
    ...more,
  }
}

export function pageOf(data: readonly unknown[], nextCursor: string | null = null): Answer {
  return { json: { data, has_more: nextCursor !== null, next_cursor: nextCursor } }
}

export type FakeAdmin = {
  /** The requests that the command is about: without the question for the service's mode. */
  requests: Request[]
  /** Those of them that change something; dry runs do not. */
  writes(): { method: string; path: string; body: unknown }[]
  run(words: readonly string[], settings?: CliSettings): Promise<Outcome>
}

/** A service in the place of a real one, in sandbox or live mode, and commands run against it as the operator ada. */
export async function fakeAdmin(
  t: Test,
  answer: (request: Request) => Answer,
  { mode = 'sandbox' }: { mode?: 'sandbox' | 'live' } = {},
): Promise<FakeAdmin> {
  const { url, requests } = await fakeService(t, (request) =>
    request.path === '/api/v1/service' ? { json: serviceInfo({ mode }) } : answer(request),
  )
  const asked = (): Request[] => requests.filter(({ path }) => path !== '/api/v1/service')
  return {
    get requests() {
      return asked()
    },
    writes: () =>
      asked()
        .filter(({ method, path }) => method !== 'GET' && !/[?&]dry_run=true$/.test(path))
        .map(({ method, path, body }) => ({ method, path, body: body === '' ? null : JSON.parse(body) })),
    run: (words, settings) =>
      runCli([...words, '--api-url', url], { ...settings, env: { SVC_PLATFORM_USER: 'ada', ...settings?.env } }),
  }
}
