import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { DomainError } from '../lib/errors.ts'
import type { RegistrationRecord } from './record.ts'

export type RepairInput = {
  slug: string
  /** Deletes an incomplete realm and frees its name, instead of completing it. */
  rollback: boolean
  /** The address, in lower case, of an administrator to replace those who have not signed up. */
  adminEmail?: string | undefined
  reason?: string | undefined
  actor: Actor
}

/** `repaired` describes each repair. */
export type RepairResult = { slug: string; status: 'COMPLETE' | 'FAILED'; repaired: string[] }

export function registrationUnderWay(cause?: unknown): DomainError {
  return new DomainError('REGISTRATION_UNDER_WAY', 'the registration is in progress', {
    retryAfterSeconds: 60,
    next: 'try again in a minute',
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
