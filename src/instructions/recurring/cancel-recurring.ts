import type { App } from '../../app.ts'
import { DomainError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import { moveRecurring } from './move.ts'
import { getRecurring } from './get-recurring.ts'
import type { RecurringKey } from './get-recurring.ts'

/**
 * Cancels a recurring payment: no run follows. A run in progress completes first, and payments of earlier runs are still
 * executed.
 * @throws {DomainError} RECURRING_PAYMENT_NOT_FOUND; RECURRING_PAYMENT_NOT_CANCELLABLE also for a repeat (decision 3)
 */
export async function cancelRecurring(app: Pick<App, 'pool' | 'log'>, key: RecurringKey): Promise<void> {
  const from = 'InitiationCompleted'
  if (isUuid(key.id) && (await moveRecurring(app.pool, { ...key, from, on: 'cancellation' }))) {
    app.log.info({ recurring_payment_id: key.id }, 'a recurring payment was cancelled')
    return
  }
  const { status } = await getRecurring(app, key)
  const message =
    status === 'Cancelled'
      ? 'the recurring payment is cancelled already: no payment follows'
      : `a recurring payment in status ${status} can't be cancelled: only ${from} can`
  throw new DomainError('RECURRING_PAYMENT_NOT_CANCELLABLE', message)
}
