import type { DatabaseTransactionConnection } from 'slonik'
import type { AccountRecord } from '../../accounts/record.ts'
import type { App } from '../../app.ts'
import { DomainError, invalidFields } from '../../lib/errors.ts'
import type { FieldError } from '../../lib/errors.ts'
import { minorUnitsOf } from '../../lib/minor-units.ts'
import type { RecurringPaymentInitiation } from '../../wire/recurring.ts'
import { chooseDebtor } from '../choose-debtor.ts'
import { createOnce } from '../create-once.ts'
import type { IdempotentRequest } from '../create-once.ts'
import { initialStatus } from './move.ts'
import { getRecurring } from './get-recurring.ts'
import type { RecurringView } from './record.ts'
import { planSchedule } from './schedule.ts'
import { insertRecurring } from './sql.ts'

export type CreateRecurringInput = IdempotentRequest & { body: RecurringPaymentInitiation }

/**
 * Sets up a recurring payment from the named account, otherwise from the customer's first one in the currency (decision
 * 59). Each run is a payment of its own; the account's funds are checked then. A repeat under the same key returns the
 * recurring payment as it is now, also on a later day.
 * @throws {DomainError} VALIDATION_FAILED with every invalid field; IDEMPOTENCY_KEY_REUSED
 */
export async function createRecurring(app: App, input: CreateRecurringInput): Promise<RecurringView> {
  const id = await createOnce(app, input, (tx, newId) => setUp(tx, app, { id: newId, input }))
  const recurring = await getRecurring(app, { customerId: input.customerId, id })
  if (recurring.next_run_at !== null && Date.parse(recurring.next_run_at) <= Date.now())
    app.wake.notify('run-recurring')
  return recurring
}

async function setUp(
  tx: DatabaseTransactionConnection,
  app: App,
  { id, input: { customerId, body } }: { id: string; input: CreateRecurringInput },
): Promise<void> {
  const planned = planSchedule(body, { holidays: app.config.holidays, now: new Date() })
  const debtor = await debtorOrErrors(tx, { customerId, body })
  if ('errors' in planned || 'errors' in debtor)
    throw invalidFields([planned, debtor].flatMap((part) => ('errors' in part ? part.errors : [])))
  const { InstructedAmount, CreditorAccount } = body
  await insertRecurring(tx, {
    id,
    customerId,
    frequency: body.Frequency,
    firstPaymentAt: iso(body.FirstPaymentDateTime),
    nextPaymentAt: body.NextPaymentDateTime === undefined ? null : iso(body.NextPaymentDateTime),
    finalPaymentAt: body.FinalPaymentDateTime === undefined ? null : iso(body.FinalPaymentDateTime),
    debtorAccountId: debtor.account.id,
    creditor: {
      scheme: CreditorAccount.SchemeName,
      identification: CreditorAccount.Identification,
      name: CreditorAccount.Name ?? null,
    },
    amountMinor: minorUnitsOf(InstructedAmount),
    currency: InstructedAmount.Currency,
    reference: body.RemittanceInformation?.Reference ?? null,
    status: initialStatus(),
    firstRun: { day: planned.first.day, at: planned.first.at.toISOString() },
  })
}

/** The debtor account, or the errors of its fields: one response reports them together with the errors of the schedule. */
async function debtorOrErrors(
  tx: DatabaseTransactionConnection,
  order: Pick<CreateRecurringInput, 'customerId' | 'body'>,
): Promise<{ account: AccountRecord } | { errors: FieldError[] }> {
  try {
    return { account: await chooseDebtor(tx, order) }
  } catch (error) {
    if (error instanceof DomainError && error.errors !== undefined) return { errors: error.errors }
    throw error
  }
}

/** A time in UTC, to the millisecond. */
function iso(text: string): string {
  return new Date(text).toISOString()
}
