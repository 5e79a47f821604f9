import type { App } from '../../app.ts'
import { recordAction } from '../../audit/record-action.ts'
import type { Actor } from '../../audit/record.ts'
import { DomainError } from '../../lib/errors.ts'
import { BankSilentError, makeBankClient } from '../bank-client.ts'
import { BankAnswerError, discover } from '../discovery.ts'
import { bankReturnAddress } from '../redirects.ts'
import { registrationClaims, requestRegistration } from '../registration-request.ts'
import type { RegistrationClaims } from '../registration-request.ts'
import { needProfile } from './need-profile.ts'
import type { RegistrationRow } from './record.ts'
import { needStatement } from './software-statement.ts'
import { findRegistration, putRegistration } from './sql.ts'

export type Registered = { registration: RegistrationRow; claims: RegistrationClaims }

type RegisterInput = { bankId: string; replace: boolean; reason: string; actor: Actor }

/**
 * Registers the platform's software at a bank. An answer that is lost may have made a client there that is never used; a
 * repetition makes another one.
 * @throws {DomainError} BANK_NOT_FOUND, SOFTWARE_STATEMENT_MISSING, BANK_ALREADY_REGISTERED, BANK_REGISTRATION_REFUSED
 */
export async function registerAtBank(
  app: Pick<App, 'pool' | 'sealer' | 'bankSetup' | 'ids' | 'publicUrl' | 'catalogue'>,
  { bankId, replace, reason, actor }: RegisterInput,
): Promise<Registered> {
  const profile = needProfile(app, bankId)
  const statement = await needStatement(app)
  const key = { bankId, softwareId: statement.software_id }
  if (profile.client.registration === 'manual')
    throw refused('the bank registers by hand: its client_id is in the profile')
  const known = await findRegistration(app.pool, key)
  if (known !== null && !replace) {
    throw new DomainError('BANK_ALREADY_REGISTERED', 'the platform is registered at this bank', {
      current: { client_id: known.client_id },
      next: 'to replace the client, say so: svc banks connect --replace',
    })
  }
  const claims = registrationClaims(profile, statement, bankReturnAddress(app.publicUrl))
  const client = makeBankClient(profile, statement)
  try {
    const metadata = await discover(client, profile)
    const clientId = await requestRegistration(client, { profile, metadata, statement, claims })
    const registration = await app.pool.transaction(async (tx) => {
      const row = await putRegistration(tx, { ...key, clientId, registeredBy: actor.name })
      await recordAction(app, tx, {
        actor,
        action: 'bank.register',
        merchantId: null,
        subjectId: bankId,
        reason,
        before: known === null ? undefined : { client_id: known.client_id },
        after: { client_id: clientId, software_id: statement.software_id },
      })
      return row
    })
    await app.catalogue.refresh()
    return { registration, claims }
  } catch (error) {
    if (error instanceof BankAnswerError || error instanceof BankSilentError) throw refused(error.message, error)
    throw error
  } finally {
    await client.close()
  }
}

function refused(message: string, cause?: unknown): DomainError {
  return new DomainError('BANK_REGISTRATION_REFUSED', message, cause === undefined ? {} : { cause })
}
