import { DISPUTE_ACTIONS } from '../../disputes/actions.ts'
import { MANDATE_ACTIONS, PAYER_MANDATE_ACTIONS } from '../../mandates/actions.ts'
import { ACTIVE_ACTIONS, HOLD_ACTIONS, KYB_ACTIONS } from '../../merchants/actions.ts'
import { TERMS_ACTIONS } from '../../merchants/setup-actions.ts'
import { PAYMENT_ACTIONS } from '../../payments/actions.ts'
import { SETTLEMENT_ACTIONS } from '../../settlements/actions.ts'
import { ENDPOINT_ACTIONS } from '../../webhooks/endpoint-actions.ts'
import { SECRET_ACTIONS } from '../../webhooks/secret-actions.ts'
import { Refund } from '../../../src/wire/refunds.ts'
import { actionVerbs } from './action-verb.ts'
import { memberOf } from '../member.ts'
import { madeOf, merchantOf } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { Name, Ref, Text, made } from '../language/parts.ts'
import { inHub } from './payers.ts'

/** What operators do to a merchant: the case's own where nothing is said. */
export const DONE_TO_MERCHANTS = actionVerbs(
  {
    shape: { of: Ref.merchant.optional() },
    example: {},
    idOf: (run: CaseRun, { of }) => merchantOf(run, of).merchant.merchant_id,
  },
  [...KYB_ACTIONS, ...HOLD_ACTIONS, ...ACTIVE_ACTIONS, ...TERMS_ACTIONS],
)

const [refund, cancel] = PAYMENT_ACTIONS
const ofPayment = {
  shape: { payment: Ref.payment },
  example: { payment: '$p1' },
  idOf: (run: CaseRun, { payment }: { payment: string }) => madeOf(run, 'payment', payment).created.payment_id,
}

export const DONE_TO_PAYMENTS = {
  ...actionVerbs(
    {
      ...ofPayment,
      shape: { ...ofPayment.shape, as: Name.optional(), idempotency_key: Text.optional() },
      makes: made('refund', Refund),
    },
    [refund],
  ),
  ...actionVerbs(ofPayment, [cancel]),
}

export const DONE_TO_DISPUTES = actionVerbs(
  {
    shape: { dispute: Ref.dispute },
    example: { dispute: '$d1' },
    idOf: (run: CaseRun, { dispute }) => madeOf(run, 'dispute', dispute).dispute.id,
  },
  DISPUTE_ACTIONS,
)

const ofMandate = {
  shape: { consent: Ref.payment },
  example: { consent: '$p1' },
  idOf: (run: CaseRun, { consent }: { consent: string }) => madeOf(run, 'payment', consent).created.consent_id,
}

/** What the two sides of a mandate do to it: the payer in the hub. It goes by the name of a payment under it. */
export const DONE_TO_MANDATES = {
  ...actionVerbs(ofMandate, MANDATE_ACTIONS),
  ...actionVerbs(
    {
      ...ofMandate,
      shape: { ...ofMandate.shape, payer: Ref.payer },
      example: { ...ofMandate.example, payer: '$ada' },
      clientOf: (run, { payer }) => inHub(run, payer),
    },
    PAYER_MANDATE_ACTIONS,
  ),
}

const ITS_OWN = { shape: {}, example: {}, idOf: () => '' }

export const DONE_TO_WEBHOOKS = {
  ...actionVerbs(ITS_OWN, ENDPOINT_ACTIONS),
  ...actionVerbs({ ...ITS_OWN, done: keepSecret }, SECRET_ACTIONS),
}

export const DONE_TO_SETTLEMENTS = actionVerbs(ITS_OWN, SETTLEMENT_ACTIONS)

/** The receiver keeps the secret that it has until a step gives it the newest. */
function keepSecret(run: CaseRun, reply: unknown, input: Readonly<Record<string, unknown>>): void {
  // The answer holds the secret, which no report may show.
  run.lastExchange = undefined
  const secret = memberOf(reply, 'webhook_signing_secret')
  if (typeof secret !== 'string') return
  const { secret: before, previousSecret } = run.merchant
  run.merchant = {
    ...run.merchant,
    secret,
    previousSecret: input['discard_current'] === true ? previousSecret : before,
  }
}
