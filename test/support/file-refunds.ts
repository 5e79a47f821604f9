import type { Test } from 'tap'
import { debtorAccountContext } from '../../src/consents/debtor-account.ts'
import { refundPayment } from '../../src/payments/refunds/refund-payment.ts'
import { testService, untilStatus } from './app.ts'
import type { Answer, ServiceOptions, TestMerchant, TestService } from './app.ts'
import { settledPayment } from './payments.ts'
import { exportByFile, readInstructions } from './payout-bank.ts'
import type { ReadFile } from './payout-bank.ts'
import { steeredBank } from './steered-bank.ts'
import type { SteeredBank } from './steered-bank.ts'

/** The payer's account in pounds, as consents have it. */
export const PAYER_ACCOUNT = {
  debtor_account_scheme: 'UK.OBIE.SortCodeAccountNumber',
  debtor_identification: '20201555555555',
}
export const PAYER_IBAN = { debtor_account_scheme: 'UK.OBIE.IBAN', debtor_identification: 'GB33BUKB20201555555555' }

type Body = Answer['body']

/** Orders, exports and reads refunds of a service whose bank has no API for them. */
export type FileRefunds = {
  /** A merchant with such payments. */
  shop: TestMerchant
  /** A request of an operator below `/api/v1/admin/`. */
  post(path: string, body?: object): Promise<Answer>
  /** A settled payment whose consent has this account. */
  payment(account?: Record<string, string | null>, more?: { of?: TestMerchant; currency?: string }): Promise<string>
  exported(): Promise<{ answer: Body; file: ReadFile }>
  refundsOf(id: string): Promise<Body[]>
  /** What reconciliation finds about refunds and the bank. */
  differences(): Promise<Body[]>
}

/** A bank whose API does not refund, and the settings of a service that goes to it by file. */
export function fileBank(): { bank: SteeredBank; options: ServiceOptions } {
  const bank = steeredBank('local', 'file')
  const env = {
    SVC_PAYOUT_CONNECTOR: 'file',
    SVC_PAYOUT_NAME: 'Payments Ltd',
    SVC_PAYOUT_ACCOUNTS: 'GBP=20-00-00 12345678',
  }
  return { bank, options: { env, overrides: { bank: bank.connector } } }
}

export async function fileRefundService(
  t: Test,
  env: ServiceOptions['env'] = {},
): Promise<TestService & FileRefunds & { bank: SteeredBank }> {
  const { bank, options } = fileBank()
  const service = await testService(t, { ...options, env: { ...options.env, ...env } })
  return { ...service, ...(await fileRefunds(service, bank)), bank }
}

export async function fileRefunds(service: TestService, bank: SteeredBank): Promise<FileRefunds> {
  bank.behind(service.app.mockBank)
  const shop = await service.merchant()
  const headers = await service.operator('OPS')
  const post = (path: string, body?: object): Promise<Answer> =>
    service.call('POST', `/api/v1/admin/${path}`, { headers, ...(body === undefined ? {} : { body }) })
  return {
    shop,
    post,
    payment: (account = PAYER_ACCOUNT, { of = shop, currency = 'GBP' } = {}) =>
      paidFrom(service, of, { account, currency }),
    async exported() {
      const { status, body, text } = await post('payout-files')
      if (status !== 200 || body.file === null) throw new Error(text)
      return { answer: body, file: readInstructions(body.file.content) }
    },
    async refundsOf(id) {
      return (await service.call('GET', `/api/v1/payments/${id}/refunds`, { merchant: shop })).body.data
    },
    async differences() {
      const { body } = await service.call('GET', '/api/v1/admin/reconciliation', { headers })
      return body.differences.filter(({ kind }: { kind: string }) => /REFUND|BANK/.test(kind))
    },
  }
}

async function paidFrom(
  service: TestService,
  of: TestMerchant,
  { account, currency }: { account: Record<string, string | null>; currency: string },
): Promise<string> {
  const id = await settledPayment(service, of, { currency })
  // A worker beside the test may have taken it, and still be asking the bank.
  await untilStatus(service, of, id, 'Settled')
  const { rows } = await service.owner.query(
    `select p.consent_id, p.merchant_id from payment_intents p where p.id = $1`,
    [id],
  )
  const { consent_id: consentId, merchant_id: merchantId } = rows[0]
  const number = account['debtor_identification'] ?? null
  const sealed = number && service.app.sealer.seal(number, debtorAccountContext({ merchantId, consentId }))
  await service.owner.query(
    `update payment_consents c set debtor_account_scheme = $2::debtor_account_scheme, debtor_identification = $3,
       payer_name = 'Zoë Payer'
     from payment_intents p where p.merchant_id = c.merchant_id and p.consent_id = c.id and p.id = $1`,
    [id, account['debtor_account_scheme'], sealed],
  )
  return id
}

/** A refund that a file took to the bank, of a service whose bank has an API for it. @returns its id */
export async function sentFileRefund(service: TestService, merchant: TestMerchant): Promise<string> {
  const id = await paidFrom(service, merchant, { account: PAYER_ACCOUNT, currency: 'GBP' })
  const { bank } = fileBank()
  const app = { ...service.app, banks: new Map([[bank.connector.id, bank.connector]]), refundApis: new Set<string>() }
  const order = { merchantId: merchant.id, id, body: {}, rawBody: '{}', idempotencyKey: undefined }
  const { refund } = await refundPayment(app, order)
  await exportByFile(app)
  return refund.id
}
