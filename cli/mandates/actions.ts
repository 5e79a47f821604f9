import { endConsent } from '../../src/wire/consents.ts'
import type { RevokedConsent } from '../../src/wire/consents.ts'
import { revokePayerConsent } from '../../src/wire/payer.ts'
import { endOfId } from '../base/text.ts'
import type { Client } from '../client/call.ts'
import { action } from '../kit/action.ts'
import type { Subject } from '../kit/action.ts'
import type { Context } from '../kit/context.ts'

type NamedMandate = { consent_id: string }

const MANDATE = 'Its id (consent_id), or at least its last 8 characters'

/** A mandate of one of its two sides. */
function mandateOf(idOf: (client: Client, given: string) => Promise<string>): Subject<NamedMandate> {
  return {
    noun: 'mandate',
    summary: MANDATE,
    async find(client, given) {
      const id = await idOf(client, given)
      return { thing: { consent_id: id }, isExact: given.toLowerCase() === id }
    },
    id: ({ consent_id: id }) => id,
    name: ({ consent_id: id }) => `mandate ${endOfId(id)}`,
    handle: ({ consent_id: id }) => id,
    confirmBy: ({ consent_id: id }) => [endOfId(id), id],
  }
}

/** A mandate, as its merchant names it. */
export const mandate = mandateOf(async (client, given) => (await import('./find.ts')).mandateId(client, given))

const ofPayer = mandateOf(async (client, given) => (await import('./find.ts')).payerMandateId(client, given))

const end = action({
  command: 'payments mandates end',
  summary: 'End a mandate as its merchant',
  details: 'No further payment is made under it. An ended mandate cannot be restored.',
  examples: ['svc payments mandates end a2b4358c'],
  subject: mandate,
  flags: {},
  operation: endConsent,
  request: (id) => ({ params: { id } }),
  effect: ({ consent_id: id }) => `end the mandate ${id}, under which nothing can be paid any more`,
  done: ({ consent_id: id }) => `ended the mandate ${endOfId(id)}`,
  confirm: true,
  view: printEnded,
})

const cancel = action({
  command: 'payments mandates cancel',
  summary: 'Cancel a mandate as its payer',
  details: 'Its merchant can take no further payment under it.',
  examples: ['svc payments mandates cancel a2b4358c'],
  subject: ofPayer,
  flags: {},
  operation: revokePayerConsent,
  request: (id) => ({ params: { id } }),
  effect: ({ consent_id: id }) => `cancel the mandate ${id}, under which nothing can be paid any more`,
  done: ({ consent_id: id }) => `cancelled the mandate ${endOfId(id)}`,
  confirm: true,
  view: printEnded,
})

function printEnded({ print }: Context, ended: RevokedConsent): void {
  print.record({
    item: ended,
    id: ended.consent_id,
    lines: [
      ['Mandate', ended.consent_id],
      ['Status', ended.status],
    ],
  })
}

/** What the two sides of a mandate do to it. */
export const MANDATE_ACTIONS = [end] as const
export const PAYER_MANDATE_ACTIONS = [cancel] as const
