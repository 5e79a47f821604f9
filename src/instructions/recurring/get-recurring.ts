import type { App } from '../../app.ts'
import { DomainError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import { findRecurring } from './read-sql.ts'
import type { RecurringView } from './record.ts'

/** A recurring payment as named by a customer: any text for its id. */
export type RecurringKey = { customerId: string; id: string }

/**
 * A recurring payment of this customer.
 * @throws {DomainError} RECURRING_PAYMENT_NOT_FOUND for an unknown id, another customer's and an invalid id alike
 */
export async function getRecurring(app: Pick<App, 'pool'>, { customerId, id }: RecurringKey): Promise<RecurringView> {
  const recurring = isUuid(id) ? await findRecurring(app.pool, { customerId, id }) : null
  if (recurring !== null) return recurring
  throw new DomainError('RECURRING_PAYMENT_NOT_FOUND', 'recurring payment not found', {
    next: 'GET /open-banking/v1/recurring-payments lists yours',
  })
}
