import { randomUUID } from 'node:crypto'
import type { App } from '../../src/app.ts'
import { executeOrders } from '../../src/instructions/orders/execute.ts'
import type { Answer, TestService } from './app.ts'
import type { TestCustomer } from './customers.ts'

export const PAYMENTS = '/open-banking/v1/payments'

/** An account at no bank of ours. */
export const ELSEWHERE = { SchemeName: 'UK.OBIE.SortCodeAccountNumber', Identification: '20000055779911' }

/** An account by its number. */
export function byNumber(number: string): Record<string, unknown> {
  return { SchemeName: 'UK.OBIE.SortCodeAccountNumber', Identification: number }
}

/** A payment as a customer orders it: £10.00 to another bank where nothing else is said. */
export function orderBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    InstructionIdentification: 'INSTR-1',
    EndToEndIdentification: 'E2E-1',
    InstructedAmount: { Amount: '10.00', Currency: 'GBP' },
    CreditorAccount: ELSEWHERE,
    ...changes,
  }
}

export function gbp(Amount: string): { InstructedAmount: Record<string, string> } {
  return { InstructedAmount: { Amount, Currency: 'GBP' } }
}

/** Orders a payment and returns the response. */
export function order(
  service: Pick<TestService, 'call'>,
  customer: TestCustomer,
  changes: Record<string, unknown> = {},
  key?: string,
): Promise<Answer> {
  const headers = key === undefined ? customer.headers : { ...customer.headers, 'x-idempotency-key': key }
  return service.call('POST', PAYMENTS, { headers, body: orderBody(changes) })
}

/** Inserts an order into the database without the service, so that no worker executes it first; returns its id. */
export async function plantOrder(
  { owner }: Pick<TestService, 'owner'>,
  wish: {
    customer: TestCustomer
    from: string
    to: string
    minor: bigint | number
    id?: string
    paymentRequestId?: string
  },
): Promise<string> {
  const id = wish.id ?? randomUUID()
  await owner.query(
    `insert into payment_orders (
       id, customer_id, instruction_identification, end_to_end_identification, debtor_account_id, creditor_scheme_name,
       creditor_identification, amount_minor, currency, payment_request_id, created_at
     )
     values ($1, $2, 'I', 'E', $3, 'UK.OBIE.SortCodeAccountNumber', $4, $5, $6, $7, clock_timestamp())`,
    [id, wish.customer.id, wish.from, wish.to, String(wish.minor), 'GBP', wish.paymentRequestId ?? null],
  )
  return id
}

/** Carries out whatever is ordered, as a worker does that goes on until nothing is left. */
export async function executeAll(app: App): Promise<void> {
  for (let more = true; more;) ({ more } = await executeOrders(app))
}

/** Lets the leases of lost workers run out at once. */
export async function endLeases({ owner }: Pick<TestService, 'owner'>): Promise<void> {
  await owner.query('update payment_orders set locked_until = now() where locked_until is not null')
}
