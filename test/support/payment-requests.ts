import type { Answer, TestService } from './app.ts'
import type { TestCustomer } from './customers.ts'

export type Path = 'request-to-pay' | 'offer-to-pay'

/** The end of that many days from now in London, which is a DueDate. */
export async function dayFromNow({ owner }: Pick<TestService, 'owner'>, days: number): Promise<string> {
  const { rows } = await owner.query(`select ((now() at time zone 'Europe/London')::date + $1::integer)::text as day`, [
    days,
  ])
  return String(rows[0]?.day)
}

/** Of a request; its DueDate is the test's to say. */
export function requestBody(to: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    PayeeName: 'Ada Payee',
    PayerIdentifier: to,
    AmountRequested: { Amount: '12.50', Currency: 'GBP' },
    Reference: 'INV 1',
    ...changes,
  }
}

export function offerBody(to: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    PayerName: 'Ada Payer',
    PayeeIdentifier: to,
    AmountOffered: { Amount: '12.50', Currency: 'GBP' },
    Reference: 'INV 1',
    ...changes,
  }
}

/** The calls of a customer about requests or offers. */
export function asking(service: TestService) {
  return {
    create: (by: TestCustomer, path: Path, body: unknown, key?: string): Promise<Answer> =>
      service.call('POST', `/open-banking/v1/${path}`, {
        headers: { ...by.headers, ...(key === undefined ? {} : { 'x-idempotency-key': key }) },
        body,
      }),
    get: (by: TestCustomer, path: Path, rest: string, headers: Record<string, string> = {}): Promise<Answer> =>
      service.call('GET', `/open-banking/v1/${path}${rest}`, { headers: { ...by.headers, ...headers } }),
    decide: (
      by: TestCustomer,
      path: Path,
      rest: string,
      options: { body?: unknown; headers?: Record<string, string> } = {},
    ): Promise<Answer> =>
      service.call('POST', `/open-banking/v1/${path}/${rest}`, {
        headers: { ...by.headers, ...options.headers },
        ...(options.body === undefined ? {} : { body: options.body }),
      }),
  }
}

/** A request of the first customer to the second, or an offer; its id. */
export async function sent(
  service: TestService,
  path: Path,
  { by, to, changes = {} }: { by: TestCustomer; to: TestCustomer; changes?: Record<string, unknown> },
): Promise<string> {
  const body =
    path === 'request-to-pay'
      ? requestBody(to.email, { DueDate: await dayFromNow(service, 10), ...changes })
      : offerBody(to.email, changes)
  const answer = await asking(service).create(by, path, body)
  if (answer.status !== 201) throw new Error(`not sent: ${answer.text}`)
  return answer.body.RequestToPayId ?? answer.body.OfferToPayId
}

/** Behind the service's back: the time of a request has passed. */
export async function passTime({ owner }: Pick<TestService, 'owner'>, id: string): Promise<void> {
  await owner.query(`update payment_requests set expires_at = now() - interval '1 millisecond' where id = $1`, [id])
}
