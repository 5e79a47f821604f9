import { cancelRecurring, getRecurring } from '../../src/wire/recurring.ts'
import { endOfId } from '../base/text.ts'
import { action } from '../kit/action.ts'
import type { Subject } from '../kit/action.ts'
import { printRecurring } from './recurring-view.ts'

const recurring: Subject<{ id: string }> = {
  noun: 'recurring',
  summary: 'Its id, or its last 8 characters',
  async find(client, given) {
    const id = await (await import('./recurring.ts')).recurringId(client, given)
    return { thing: { id }, isExact: given.toLowerCase() === id }
  },
  id: ({ id }) => id,
  name: ({ id }) => `recurring payment ${endOfId(id)}`,
  handle: ({ id }) => id,
  confirmBy: ({ id }) => [endOfId(id), id],
}

/** Shows what is left, which the service does not answer by itself. */
export const RECURRING_ACTIONS = [
  action({
    command: 'ob recurring cancel',
    summary: 'Cancel a recurring payment',
    details: 'No further payment follows.',
    examples: ['svc ob recurring cancel a2b4358c'],
    subject: recurring,
    flags: {},
    operation: cancelRecurring,
    request: (RecurringPaymentId) => ({ params: { RecurringPaymentId } }),
    effect: ({ id }) => `cancel the recurring payment ${id}`,
    done: ({ id }) => `cancelled the recurring payment ${endOfId(id)}`,
    confirm: true,
    async view(context, _reply, { id: RecurringPaymentId }) {
      const { call } = await import('../client/call.ts')
      printRecurring(context, (await call(context.client(), getRecurring, { params: { RecurringPaymentId } })).body)
    },
  }),
] as const
