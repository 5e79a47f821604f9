import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { DomainError } from '../lib/errors.ts'
import type { RegistrationRecord } from './record.ts'

export type RepairInput = {
  slug: string
  /** Takes a half-made realm away and frees its name, instead of finishing it. */
  rollback: boolean
  /** Who administers the merchant instead of whoever has not signed up, in lower case. */
  adminEmail?: string | undefined
  reason?: string | undefined
  actor: Actor
}

/** `repaired` says in words what was done. */
export type RepairResult = { slug: string; status: 'COMPLETE' | 'FAILED'; repaired: string[] }

export function registrationUnderWay(cause?: unknown): DomainError {
  return new DomainError('REGISTRATION_UNDER_WAY', 'the registration is being worked on at this moment', {
    retryAfterSeconds: 60,
    next: 'look again in a minute',
    cause,
  })
}

type RepairAction = {
  known: RegistrationRecord
  input: RepairInput
  action: string
  after: Readonly<Record<string, unknown>>
}

export function recordRepair(
  app: Pick<App, 'ids'>,
  db: Parameters<typeof recordAction>[1],
  { known, input, action, after }: RepairAction,
): Promise<void> {
  const { status, warnings, failure, merchant_id } = known
  return recordAction(app, db, {
    actor: input.actor,
    action,
    merchantId: merchant_id,
    subjectId: known.slug,
    reason: input.reason,
    before: { status, warnings, failure },
    after,
  })
}
