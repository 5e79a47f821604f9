import type { CaseRun } from '../play/case-run.ts'
import type { Verb } from '../language.ts'
import { awaitStep } from './await.ts'
import { BANK_PLAYERS } from './bank-table.ts'
import { checkout } from './checkout.ts'
import { clock } from './clock.ts'
import { customer, order } from './customers.ts'
import { accept, escalate, evidence, raise, resolve } from './disputes.ts'
import { expectStep } from './expect.ts'
import { http } from './http.ts'
import { cancelConsent, endConsent } from './mandates.ts'
import { hold, kyb } from './merchant.ts'
import { endpoint, replay, rotateSecret } from './outbox.ts'
import { bank, pay, refund } from './pay.ts'
import { dispute, link, listConsents, listPayments, signOut, verify } from './payers.ts'
import { cancelPayment, contact, sca } from './sca.ts'
import { receiver, webhooks } from './webhooks.ts'

/** What plays each verb: with the case's things, and what follows the verb. References in it are filled in by the verb. */
export const PLAYERS: Readonly<Record<Verb, (run: CaseRun, input: unknown) => Promise<void>>> = {
  pay,
  bank,
  await: awaitStep,
  expect: expectStep,
  refund,
  webhooks,
  receiver,
  endpoint,
  rotate_secret: rotateSecret,
  replay,
  dispute: raise,
  evidence,
  accept,
  escalate,
  resolve,
  kyb,
  hold,
  customer,
  order,
  checkout,
  sca,
  'payment.cancel': cancelPayment,
  'payment.contact': contact,
  'payer.link': link,
  'payer.verify': verify,
  'payer.payments': listPayments,
  'payer.consents': listConsents,
  'payer.dispute': dispute,
  'payer.sign_out': signOut,
  'consent.cancel': cancelConsent,
  'consent.end': endConsent,
  ...BANK_PLAYERS,
  clock,
  http,
}
