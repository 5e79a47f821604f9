import { cancelRecurring } from '../../instructions/recurring/cancel-recurring.ts'
import { createRecurring } from '../../instructions/recurring/create-recurring.ts'
import { getRecurring } from '../../instructions/recurring/get-recurring.ts'
import { listRecurring } from '../../instructions/recurring/list-recurring.ts'
import type { RecurringView } from '../../instructions/recurring/record.ts'
import { scheduleRules } from '../../instructions/recurring/schedule.ts'
import { fromMinorUnits } from '../../lib/minor-units.ts'
import * as wire from '../../wire/recurring.ts'
import type { BodyRules, Handlers } from '../endpoint.ts'
import { pageLinks, pagesOf } from '../open-banking-page.ts'
import { customerOf } from '../principal.ts'

export const recurring: Handlers<typeof wire> = {
  /** POST /open-banking/v1/recurring-payments */
  async createRecurring(app, { principal, headers, body }) {
    const { customerId, clientId } = customerOf(principal)
    const idempotencyKey = headers['x-idempotency-key']
    const recurring = await createRecurring(app, { customerId, clientId, path, idempotencyKey, body })
    return { status: 201, body: presentRecurring(recurring), headers: { location: `${path}/${recurring.id}` } }
  },

  /** GET /open-banking/v1/recurring-payments */
  async listRecurring(app, { principal, query }) {
    const { recurring, count } = await listRecurring(app, { customerId: customerOf(principal).customerId, ...query })
    const { publicUrl } = app
    const links = pageLinks({ publicUrl, path: '/recurring-payments', query }, pagesOf(count, query.pageSize))
    return { status: 200, body: { Data: recurring.map(presentRecurring), ...links } }
  },

  /** GET /open-banking/v1/recurring-payments/{RecurringPaymentId} */
  async getRecurring(app, { principal, params }) {
    const { customerId } = customerOf(principal)
    return {
      status: 200,
      body: presentRecurring(await getRecurring(app, { customerId, id: params.RecurringPaymentId })),
    }
  },

  /** DELETE /open-banking/v1/recurring-payments/{RecurringPaymentId} */
  async cancelRecurring(app, { principal, params }) {
    await cancelRecurring(app, { customerId: customerOf(principal).customerId, id: params.RecurringPaymentId })
    return { status: 204, body: undefined }
  },
}

const { path } = wire.createRecurring

export const recurringRules: BodyRules = (body) => scheduleRules(body, new Date())

function presentRecurring(recurring: RecurringView): wire.RecurringPaymentResponse {
  const { currency, creditor_name, reference, next_payment_at, final_payment_at, next_run_at } = recurring
  return {
    RecurringPaymentId: recurring.id,
    Status: recurring.status,
    CreationDateTime: recurring.created_at,
    StatusUpdateDateTime: recurring.updated_at,
    Frequency: recurring.frequency,
    FirstPaymentDateTime: recurring.first_payment_at,
    ...(next_payment_at === null ? {} : { NextPaymentDateTime: next_payment_at }),
    ...(final_payment_at === null ? {} : { FinalPaymentDateTime: final_payment_at }),
    InstructedAmount: { Amount: fromMinorUnits(recurring.amount_minor, currency), Currency: currency },
    DebtorAccountId: recurring.debtor_account_id,
    CreditorAccount: {
      SchemeName: recurring.creditor_scheme_name,
      Identification: recurring.creditor_identification,
      ...(creditor_name === null ? {} : { Name: creditor_name }),
    },
    ...(reference === null ? {} : { RemittanceInformation: { Reference: reference } }),
    ...(next_run_at === null ? {} : { NextRunDateTime: next_run_at }),
    NumberOfPayments: recurring.run_count,
    ...presentLastPayment(recurring),
  }
}

function presentLastPayment({
  last_order_id,
  last_order_status,
  last_order_reason,
}: RecurringView): Pick<wire.RecurringPaymentResponse, 'LastPayment'> {
  if (last_order_id === null || last_order_status === null) return {}
  return {
    LastPayment: {
      PaymentId: last_order_id,
      Status: last_order_status,
      ...(last_order_reason === null ? {} : { StatusReasonCode: last_order_reason }),
    },
  }
}
