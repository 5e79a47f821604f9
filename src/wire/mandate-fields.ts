import { z } from 'zod'
import { Instant, Uuid } from './common.ts'

export const ConsentType = z.enum(['SINGLE_IMMEDIATE', 'VARIABLE_RECURRING'])

/**
 * The caps of a mandate (contract §Payment consent; decision 49), by the contract's names or by those of the
 * Open Banking standard. Other members are stored unchanged.
 */
export const ControlParameters = z.record(z.string().max(64), z.unknown())

/** A mandate for recurring payments: set up with its first payment, then named by the later ones (decision 49). */
export const mandateFields = {
  consent_type: ConsentType.optional(),
  control_parameters: ControlParameters.optional(),
  valid_to: Instant.optional().meta({ description: 'when the mandate ends; by default after one year' }),
  consent_id: Uuid.optional().meta({ description: 'the mandate of this payment' }),
}

type MandateFields = { consent_type?: z.infer<typeof ConsentType> | undefined } & Record<string, unknown>

/** The fields that a payment under a mandate takes from the mandate, so that it must not repeat them. */
const OF_THE_MANDATE = [
  'redirect_uri',
  'consent_type',
  'control_parameters',
  'valid_to',
  'payer_name',
  'payer_email',
  'payer_phone',
  'debtor_account_scheme',
  'debtor_identification',
  'debtor_bank_id',
]

/** The valid combinations of the mandate fields: they set a mandate up, name one, or are absent. */
export function mandateProblems(body: MandateFields): { path: string; message: string }[] {
  if (body['consent_id'] !== undefined) {
    return OF_THE_MANDATE.filter((path) => body[path] !== undefined).map((path) => ({
      path,
      message: 'must be left out of a payment with a consent_id: the mandate has it',
    }))
  }
  const problems: { path: string; message: string }[] = []
  const isRecurring = body.consent_type === 'VARIABLE_RECURRING'
  if (isRecurring && body['control_parameters'] === undefined)
    problems.push({ path: 'control_parameters', message: 'is required with consent_type VARIABLE_RECURRING' })
  for (const path of ['control_parameters', 'valid_to']) {
    if (!isRecurring && body[path] !== undefined)
      problems.push({ path, message: 'is only allowed with consent_type VARIABLE_RECURRING' })
  }
  return problems
}
