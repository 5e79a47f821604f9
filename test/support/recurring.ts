import type { DatabasePool } from 'slonik'
import { makePool } from '../../src/db/pool.ts'
import type { Runner } from '../../src/instructions/recurring/run.ts'
import { makeIds } from '../../src/lib/ids.ts'
import { bankHolidays } from '../../src/lib/working-days.ts'
import { makeLog } from '../../src/observe/log.ts'
import type { Answer, TestService } from './app.ts'
import type { TestCustomer } from './customers.ts'
import { ELSEWHERE } from './orders.ts'

export const RECURRING = '/open-banking/v1/recurring-payments'
export const DAY_MS = 86_400_000

/** So many milliseconds from now, as ISO 8601. */
export function inMs(ms: number): string {
  return new Date(Date.now() + ms).toISOString()
}

/** A recurring payment as a customer orders it: £10.00 every day to another bank, from tomorrow, where nothing else is said. */
export function recurringBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    Frequency: 'EvryDay',
    FirstPaymentDateTime: inMs(DAY_MS),
    InstructedAmount: { Amount: '10.00', Currency: 'GBP' },
    CreditorAccount: ELSEWHERE,
    ...changes,
  }
}

/** Orders a recurring payment and returns the response. */
export function orderRecurring(
  service: Pick<TestService, 'call'>,
  customer: TestCustomer,
  changes: Record<string, unknown> = {},
  key?: string,
): Promise<Answer> {
  const headers = key === undefined ? customer.headers : { ...customer.headers, 'x-idempotency-key': key }
  return service.call('POST', RECURRING, { headers, body: recurringBody(changes) })
}

/** Lets the next run of these be due now, whatever day it belongs to. */
export async function makeDue({ owner }: Pick<TestService, 'owner'>, ids: readonly string[]): Promise<void> {
  await owner.query(
    `update recurring_payments set next_run_at = now() - interval '1 second'
     where id = any ($1) and next_run_at is not null`,
    [ids],
  )
}

export type OrderRow = {
  id: string
  recurring_payment_id: string
  run_day: string
  status: string
  status_reason_code: string | null
  end_to_end_identification: string
}

/** The payments that recurring payments have made, in the order in which they are carried out. */
export async function ordersOf({ owner }: Pick<TestService, 'owner'>, ids: readonly string[]): Promise<OrderRow[]> {
  const { rows } = await owner.query<OrderRow>(
    `select id, recurring_payment_id, run_day::text, status, status_reason_code, end_to_end_identification
     from payment_orders where recurring_payment_id = any ($1) order by created_at, id`,
    [ids],
  )
  return rows
}

/** Stores recurring payments behind the service's back, each with its next run. */
export async function plantRecurring(
  { owner }: Pick<TestService, 'owner'>,
  customer: TestCustomer,
  rows: readonly {
    id: string
    frequency: string
    first: Date
    next?: Date | null
    final?: Date | null
    run: { day: string; at: Date }
  }[],
): Promise<void> {
  await owner.query(
    `insert into recurring_payments (
       id, customer_id, frequency, first_payment_at, next_payment_at, final_payment_at, debtor_account_id,
       creditor_scheme_name, creditor_identification, amount_minor, currency, status, next_run_day, next_run_at
     )
     select id, $1, frequency, first, next, final, $2, 'UK.OBIE.SortCodeAccountNumber', $3, 1, 'GBP',
       'InitiationCompleted', (run->>'day')::date, (run->>'at')::timestamptz
     from jsonb_to_recordset($4) as r (
       id uuid, frequency text, first timestamptz, next timestamptz, final timestamptz, run jsonb
     )`,
    [customer.id, customer.account.id, ELSEWHERE.Identification, JSON.stringify(rows)],
  )
}

/** The parts of the service that a worker needs for runs. */
export async function makeRunner(databaseUrl: string): Promise<Runner & { pool: DatabasePool }> {
  return {
    pool: await makePool({ databaseUrl, role: 'svc_runtime', applicationName: 'svc test', size: 4 }),
    wake: { notify: () => undefined, listen: async () => async () => undefined, close: async () => undefined },
    ids: makeIds(),
    log: makeLog('silent'),
    config: { holidays: bankHolidays() },
  }
}
