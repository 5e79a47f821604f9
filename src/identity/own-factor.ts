import type { Actor } from '../audit/record.ts'
import { DomainError } from '../lib/errors.ts'

/**
 * A stolen session must not be enough to be rid of the second factor, so another person resets it.
 * @throws {DomainError} OWN_FACTOR
 */
export function rejectOwnFactor(actor: Actor, subject: string): void {
  if (actor.id !== subject) return
  throw new DomainError('OWN_FACTOR', 'this is your own second factor, which another person has to reset', {
    next: 'sign in with a recovery code, which lets you set up a new app; or ask another person to reset it',
  })
}
