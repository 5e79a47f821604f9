import { parseDuration } from '../../../src/lib/duration.ts'
import { getConsent } from '../../../src/wire/consents.ts'
import type { Mandate } from '../../../src/wire/consents.ts'
import { getPayerPayment } from '../../../src/wire/payer.ts'
import type { CreatePayment } from '../../../src/wire/new-payment.ts'
import { call } from '../../client/call.ts'
import { awaitThat } from '../play/await-that.ts'
import { madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { refuseDifferences } from '../assert-matches.ts'
import { AwaitConsent, ExpectConsent } from '../language/mandates.ts'
import type { MandateWish } from '../language/mandates.ts'
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

export async function awaitConsent(run: CaseRun, given: unknown): Promise<void> {
  const { consent: reference, status: wanted, within } = readInput(run, AwaitConsent, given)
  await awaitThat(run, {
    what: `the mandate of ${reference}`,
    wanted,
    within,
    look: () => consentNow(run, reference),
    isThere: ({ status }) => status === wanted,
    isOver: ({ status }) => status === 'REJECTED' || status === 'REVOKED' || status === 'EXPIRED',
    now: ({ status }) => status,
  })
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
