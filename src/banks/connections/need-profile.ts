import type { App } from '../../app.ts'
import { DomainError } from '../../lib/errors.ts'
import type { BankProfile } from '../profiles.ts'

/** @throws {DomainError} BANK_NOT_FOUND */
export function needProfile({ bankSetup }: Pick<App, 'bankSetup'>, id: string): BankProfile {
  const profile = bankSetup.profiles.find((each) => each.id === id)
  if (profile !== undefined) return profile
  throw new DomainError('BANK_NOT_FOUND', 'the bank is not among the configured ones', {
    next: 'add it to the file of SVC_BANK_PROFILES; svc banks list shows what is there',
  })
}
