import type { App } from '../../app.ts'
import type { ConsentRequest } from '../../banks/connector.ts'
import { exceededCap } from '../../consents/allowances.ts'
import { readCaps } from '../../consents/control-parameters.ts'
import type { Caps } from '../../consents/control-parameters.ts'
import { DomainError, invalidField } from '../../lib/errors.ts'
import { parseAmount, toNumeric } from '../../lib/money.ts'
import type { CreatePayment } from '../../wire/new-payment.ts'
import { hasPaymentWithKey } from './sql.ts'

/** What a mandate that is set up with its first payment brings along. */
export type NewMandate = {
  /** ISO 8601. */
  validTo: string
  /** How long its payer may take to authorise it. */
  consentSeconds: number
  /** What its bank is told. */
  request: NonNullable<ConsentRequest['mandate']>
}

const YEARS_DEFAULT = 1
const YEARS_MAX = 10

type NewMandateInput = { merchantId: string; idempotencyKey: string; body: CreatePayment }

/**
 * Reads the mandate that a payment sets up (decision 49); undefined where it sets up none.
 * @throws {DomainError} VALIDATION_FAILED, and MANDATE_LIMIT_EXCEEDED where caps are enforced and the first payment breaks one
 */
export async function readNewMandate(
  app: App,
  { merchantId, idempotencyKey, body }: NewMandateInput,
): Promise<NewMandate | undefined> {
  if (body.consent_type !== 'VARIABLE_RECURRING' || body.control_parameters === undefined) return undefined
  const caps = readCaps(body.control_parameters, body.currency)
  const now = new Date()
  const validTo = validToOf(body, caps, now)
  // A repeat of the request is answered however late it comes.
  if (new Date(validTo) <= now && !(await hasPaymentWithKey(app.pool, { merchantId, idempotencyKey })))
    throw invalidField('valid_to', 'IN_THE_PAST', 'must lie in the future')
  if (app.config.vrpCaps === 'enforce') checkCaps(body, caps)
  const leftSeconds = Math.floor((new Date(validTo).getTime() - now.getTime()) / 1_000)
  return {
    validTo,
    consentSeconds: Math.max(Math.min(app.config.consentSeconds, leftSeconds), 1),
    request: mandateRequest(caps, validTo),
  }
}

/** A mandate as its bank shows it to the payer: all that is agreed, whether or not it is checked later. */
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

/** The first payment is paid out of the caps as every later one is. */
function checkCaps({ amount, currency }: CreatePayment, caps: Caps): void {
  const allowances = caps.limits.map(({ period, maxAmount }) => {
    const max = toNumeric(maxAmount)
    return { period, max_amount: max, used_amount: '0.0000', remaining_amount: max, resets_at: '' }
  })
  const broken = exceededCap(parseAmount(amount), { caps, allowances, currency })
  if (broken !== undefined) throw mandateLimitExceeded(broken)
}

/** The mandate's own caps refuse a payment; nothing was made. */
export function mandateLimitExceeded({ path, message }: { path: string; message: string }): DomainError {
  return new DomainError('MANDATE_LIMIT_EXCEEDED', message, {
    errors: [{ path: 'amount', code: 'MANDATE_LIMIT_EXCEEDED', message: `is more than ${path} leaves: ${message}` }],
    next: 'see what is left: GET /api/v1/portal/consents/{id}',
  })
}
