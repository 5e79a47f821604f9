import type { CaseRun } from '../play/case-run.ts'
import type { Verb } from '../language.ts'
import { playersOf } from '../action-verb.ts'
import {
  DONE_TO_DISPUTES,
  DONE_TO_MANDATES,
  DONE_TO_MERCHANTS,
  DONE_TO_PAYMENTS,
  DONE_TO_WEBHOOKS,
} from '../language/actions.ts'
import { account, accounts, balances, transactions } from './accounts.ts'
import { awaitStep } from './await.ts'
import { checkout } from './checkout.ts'
import { clock } from './clock.ts'
import { customer, order } from './customers.ts'
import { raise } from './disputes.ts'
import { exec } from './exec.ts'
import { expectStep } from './expect.ts'
import { http } from './http.ts'
import { merchant, register } from './merchants.ts'
import { replay } from './outbox.ts'
import { bank, pay } from './pay.ts'
import { dispute, link, listConsents, listPayments, signOut, verify } from './payers.ts'
import { bankAccount, branding, origins } from './portal.ts'
import { recurring } from './recurring.ts'
import { offer, request } from './requests.ts'
import { cancelPayment, contact, sca } from './sca.ts'
import { receiver, webhooks } from './webhooks.ts'

/** What plays each verb: with the case's things, and what follows the verb. References in it are filled in by the verb. */
export const PLAYERS: Readonly<Record<Verb, (run: CaseRun, input: unknown) => Promise<void>>> = {
  pay,
  bank,
  await: awaitStep,
  expect: expectStep,
  webhooks,
  receiver,
  replay,
  dispute: raise,
  ...playersOf({
    ...DONE_TO_DISPUTES,
    ...DONE_TO_MANDATES,
    ...DONE_TO_MERCHANTS,
    ...DONE_TO_PAYMENTS,
    ...DONE_TO_WEBHOOKS,
  }),
  customer,
  order,
  checkout,
  sca,
  'payer.cancel': cancelPayment,
  'payment.contact': contact,
  'payer.link': link,
  'payer.verify': verify,
  'payer.payments': listPayments,
  'payer.consents': listConsents,
  'payer.dispute': dispute,
  'payer.sign_out': signOut,
  accounts,
  balances,
  transactions,
  account,
  recurring,
  request,
  offer,
  merchant,
  register,
  branding,
  origins,
  bank_account: bankAccount,
  exec,
  clock,
  http,
}
