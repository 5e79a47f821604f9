import type { App } from '../../app.ts'
import { DomainError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import type { OrderRecord } from './record.ts'
import { findOrder } from './sql.ts'

/**
 * A payment that this customer ordered.
 * @throws {DomainError} ORDER_NOT_FOUND for an unknown id and for another customer's alike
 */
export async function getOrder(
  app: Pick<App, 'pool'>,
  { customerId, id }: { customerId: string; id: string },
): Promise<OrderRecord> {
  const order = isUuid(id) ? await findOrder(app.pool, { customerId, id }) : null
  if (order === null) throw new DomainError('ORDER_NOT_FOUND', 'payment order not found')
  return order
}
