import { parseDuration } from '../../../src/lib/duration.ts'
import { getConsent } from '../../../src/wire/consents.ts'
import type { Mandate } from '../../../src/wire/consents.ts'
import { getPayerPayment } from '../../../src/wire/payer.ts'
import type { CreatePayment } from '../../../src/wire/new-payment.ts'
import { call } from '../../client/call.ts'
import { madeOf, pollFor, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { refuseDifferences } from '../assert-matches.ts'
import { AwaitConsent, ExpectConsent } from '../language/mandates.ts'
import type { MandateWish } from '../language/mandates.ts'
import { WITHIN } from '../language/parts.ts'
import { ExpectReceipt } from '../language/payers.ts'
import { differencesOf } from '../matchers.ts'
import { inHub } from './payers.ts'

type MandateBody = Pick<CreatePayment, 'consent_type' | 'control_parameters' | 'valid_to'>

/** What a payment says that sets up a mandate. */
export function mandateBody(wish: MandateWish | undefined): MandateBody {
  if (wish === undefined) return {}
  const { control_parameters, valid_for: lasts, valid_to, ...caps } = wish
  const end = lasts === undefined ? valid_to : new Date(Date.now() + parseDuration(lasts)).toISOString()
  const said = Object.entries(caps).filter(([, value]) => value !== undefined)
  return {
    consent_type: 'VARIABLE_RECURRING',
    control_parameters: { ...control_parameters, ...Object.fromEntries(said) },
    ...(end === undefined ? {} : { valid_to: end }),
  }
}

/** A mandate goes by the name of the payment that set it up, or of any that was made under it. */
export function consentOf(run: CaseRun, reference: string): { id: string } {
  return { id: madeOf(run, 'payment', reference).created.consent_id }
}

async function consentNow(run: CaseRun, reference: string): Promise<Mandate> {
  return (await call(run.client, getConsent, { params: consentOf(run, reference) })).body
}

const ENDED: ReadonlySet<Mandate['status']> = new Set(['REJECTED', 'REVOKED', 'EXPIRED'])

export async function awaitConsent(run: CaseRun, given: unknown): Promise<void> {
  const { consent: reference, status, within = WITHIN } = readInput(run, AwaitConsent, given)
  let last: Mandate['status'] | undefined
  const reached = await pollFor(run, parseDuration(within), async () => {
    last = (await consentNow(run, reference)).status
    if (last === status) return true
    if (!ENDED.has(last)) return undefined
    throw new StepFailure(`the mandate of ${reference} is ${last} and can no longer become ${status}`, {
      at: ['status'],
    })
  })
  if (reached !== undefined) return
  throw new StepFailure(
    `the mandate of ${reference} is still ${last ?? 'unknown'} after ${within}; awaited was ${status}`,
    { at: ['status'] },
  )
}

export async function expectConsent(run: CaseRun, given: unknown): Promise<void> {
  const { consent: reference, ...expected } = readInput(run, ExpectConsent, given)
  refuseDifferences(`the mandate of ${reference}`, differencesOf(expected, await consentNow(run, reference)))
}

/** A payment as its payer sees it in the hub. */
export async function expectReceipt(run: CaseRun, given: unknown): Promise<void> {
  const { receipt: reference, payer, history, ...expected } = readInput(run, ExpectReceipt, given)
  const id = madeOf(run, 'payment', reference).created.payment_id
  const { body } = await call(inHub(run, payer), getPayerPayment, { params: { id } })
  const seen = { ...body, history: body.status_history.map((change) => change.new_status) }
  const wanted = history === undefined ? expected : { ...expected, history }
  refuseDifferences(`the receipt of ${reference}`, differencesOf(wanted, seen))
}
