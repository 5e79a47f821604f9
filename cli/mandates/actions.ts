import { endConsent } from '../../src/wire/consents.ts'
import type { RevokedConsent } from '../../src/wire/consents.ts'
import { revokePayerConsent } from '../../src/wire/payer.ts'
import { endOfId } from '../base/text.ts'
import { action, idSubject } from '../kit/action.ts'
import type { Context } from '../kit/context.ts'
import { mandateId, payerMandateId } from './find.ts'

const MANDATE = {
  noun: 'mandate',
  summary: 'Its id (consent_id), or at least its last 8 characters',
  called: 'mandate',
}

/** A mandate, as its merchant names it. */
export const mandate = idSubject(MANDATE, mandateId)

const ofPayer = idSubject(MANDATE, payerMandateId)

function ending(verb: string, past: string) {
  return {
    flags: {},
    effect: ({ id }: { id: string }) => `${verb} the mandate ${id}, under which nothing can be paid any more`,
    done: ({ id }: { id: string }) => `${past} the mandate ${endOfId(id)}`,
    confirm: true,
    view: printEnded,
  } as const
}

const end = action({
  ...ending('end', 'ended'),
  command: 'payments mandates end',
  summary: 'End a mandate as its merchant',
  details: 'No further payment is made under it. An ended mandate cannot be restored.',
  examples: ['svc payments mandates end a2b4358c'],
  subject: mandate,
  operation: endConsent,
})

const cancel = action({
  ...ending('cancel', 'cancelled'),
  command: 'payments mandates cancel',
  summary: 'Cancel a mandate as its payer',
  details: 'Its merchant can take no further payment under it.',
  examples: ['svc payments mandates cancel a2b4358c'],
  subject: ofPayer,
  operation: revokePayerConsent,
})

function printEnded({ print }: Context, ended: RevokedConsent): void {
  print.record(ended, [
    ['Mandate', ended.consent_id],
    ['Status', ended.status],
  ])
}

export const MANDATE_ACTIONS = [end] as const
export const PAYER_MANDATE_ACTIONS = [cancel] as const
