import type { App } from '../../app.ts'
import type { ConsentRequest } from '../../banks/connector.ts'
import { exceededCap } from '../../consents/allowances.ts'
import type { ExceededCap } from '../../consents/allowances.ts'
import { readCaps } from '../../consents/control-parameters.ts'
import type { Caps } from '../../consents/control-parameters.ts'
import { DomainError, invalidField } from '../../lib/errors.ts'
import { parseAmount, toNumeric } from '../../lib/money.ts'
import type { CreatePayment } from '../../wire/new-payment.ts'
import { hasPaymentWithKey } from './sql.ts'

/** A mandate that is set up with its first payment. */
export type NewMandate = {
  /** ISO 8601. */
  validTo: string
  /** Seconds that its payer has to authorise it. */
  consentSeconds: number
  /** The mandate as its bank is asked for it. */
  request: NonNullable<ConsentRequest['mandate']>
}

const YEARS_DEFAULT = 1
const YEARS_MAX = 10

type NewMandateInput = { merchantId: string; idempotencyKey: string; body: CreatePayment }

/**
 * Reads and checks the mandate that a payment sets up (decision 49); undefined where it sets up none.
 * @throws {DomainError} VALIDATION_FAILED, and MANDATE_LIMIT_EXCEEDED where caps are enforced and the first payment exceeds one
 */
export async function readNewMandate(
  app: App,
  { merchantId, idempotencyKey, body }: NewMandateInput,
): Promise<NewMandate | undefined> {
  if (body.consent_type !== 'VARIABLE_RECURRING' || body.control_parameters === undefined) return undefined
  const caps = readCaps(body.control_parameters, body.currency)
  const now = new Date()
  const validTo = validToOf(body, caps, now)
  // A repeat of an earlier request is answered even after `valid_to`.
  if (new Date(validTo) <= now && !(await hasPaymentWithKey(app.pool, { merchantId, idempotencyKey })))
    throw invalidField('valid_to', 'IN_THE_PAST', 'must be in the future')
  if (app.config.vrpCaps === 'enforce') checkCaps(body, caps)
  const leftSeconds = Math.floor((new Date(validTo).getTime() - now.getTime()) / 1_000)
  return {
    validTo,
    consentSeconds: Math.max(Math.min(app.config.consentSeconds, leftSeconds), 1),
    request: mandateRequest(caps, validTo),
  }
}

/** A mandate as its bank shows it to the payer, with all caps, also those that are not enforced here. */
export function mandateRequest({ maxAmountPerPayment, limits }: Caps, validTo: string): NewMandate['request'] {
  return {
    maxAmountPerPayment: toNumeric(maxAmountPerPayment),
    limits: limits.map(({ period, alignment, maxAmount }) => ({ period, alignment, maxAmount: toNumeric(maxAmount) })),
    validTo,
  }
}

function validToOf({ valid_to: own }: CreatePayment, { validTo: alias }: Caps, now: Date): string {
  if (own !== undefined && alias !== undefined && own !== alias)
    throw invalidField('valid_to', 'CONTRADICTORY', 'must be the ValidToDateTime of control_parameters; leave one out')
  const validTo = own ?? alias ?? yearsAfter(now, YEARS_DEFAULT).toISOString()
  if (new Date(validTo) > yearsAfter(now, YEARS_MAX))
    throw invalidField('valid_to', 'TOO_FAR', `must be at most ${YEARS_MAX} years from now`)
  return validTo
}

function yearsAfter(now: Date, years: number): Date {
  const then = new Date(now)
  then.setUTCFullYear(now.getUTCFullYear() + years)
  return then
}

/** Checks the first payment against the caps, as every later payment is. */
function checkCaps({ amount, currency }: CreatePayment, caps: Caps): void {
  const allowances = caps.limits.map(({ period, maxAmount }) => {
    const max = toNumeric(maxAmount)
    return { period, max_amount: max, used_amount: '0.0000', remaining_amount: max, resets_at: '' }
  })
  const exceeded = exceededCap(parseAmount(amount), { caps, allowances, currency })
  if (exceeded !== undefined) throw mandateLimitExceeded(exceeded)
}

/** The error for a payment that exceeds a cap of its mandate. */
export function mandateLimitExceeded({ path, message, available }: ExceededCap): DomainError {
  return new DomainError('MANDATE_LIMIT_EXCEEDED', message, {
    errors: [{ path: 'amount', code: 'MANDATE_LIMIT_EXCEEDED', message: `is more than ${path} leaves: ${message}` }],
    next: 'read the remaining amounts: GET /api/v1/portal/consents/{id}',
    ...(available === undefined ? {} : { available }),
  })
}
