import { z } from 'zod'
import { parseDuration } from '../../../src/lib/duration.ts'
import { DisputeReason } from '../../../src/wire/dispute-fields.ts'
import { listMails } from '../../../src/wire/mails.ts'
import {
  PayerContact,
  PayerDispute,
  PayerReceipt,
  PayerSession,
  getPayerPayment,
  listPayerConsents,
  listPayerPayments,
  raisePayerDispute,
  requestLink,
  signOutPayer,
  verifyLink,
} from '../../../src/wire/payer.ts'
import { PaymentStatus } from '../../../src/wire/payments.ts'
import { withPayerSession } from '../../client/auth/credentials.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { contactOf, newestToken } from '../../payer/sign-in.ts'
import { StepFailure } from '../failure.ts'
import { Matcher, Name, Ref, Text, WITHIN, Wait, expectedOf, matchersOf, made } from '../language/parts.ts'
import { keep, madeOf, pollFor } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { withHistory } from './payments.ts'
import { holds, sends, verb, comparison } from './verb.ts'
import type { Subject } from './verb.ts'

/** How long nothing has to come before it is taken that nothing will. */
const SILENCE = '1s'

const link = verb({
  schema: z.strictObject({
    contact: Text,
    as: Name.optional(),
    /** Whether a link comes: who has paid nothing is sent none. */
    arrives: z.boolean().optional(),
    within: Wait.optional(),
  }),
  text: 'Requests a sign-in link; `arrives: false` where none may come.',
  examples: ['payer.link: { as: link, contact: ada@example.org }'],
  makes: { kind: 'link', members: ['contact'] },
  async play(run, { contact, as, arrives = true, within = arrives ? WITHIN : SILENCE }) {
    const wanted = contactOf(contact, noContact)
    const recipient = await recipientOf(wanted)
    // What stands in a message signs its reader in: no report may show it.
    const quiet = { ...run.client, onExchange: undefined }
    const seen = new Set((await call(quiet, listMails, { query: { recipient } })).body.data.map(({ id }) => id))
    await call(run.client, requestLink, { body: wanted })
    const token = await pollFor(run, parseDuration(within), () => newestToken(quiet, recipient, seen))
    if (token === undefined && !arrives) return
    if (!arrives) throw new StepFailure(`a link was sent to ${contact}, where none was to come`, { at: ['arrives'] })
    if (token === undefined)
      throw new StepFailure(`no link for ${contact} came within ${within}`, {
        at: ['contact'],
        hint: 'who has paid nothing is sent none: pay: { …, payer_email: … } before this step; and a worker sends them',
      })
    keep(run, as, { kind: 'link', token }, { contact: recipient })
  },
})

export function noContact(why: string): StepFailure {
  return new StepFailure(why, { at: ['contact'], hint: 'ada@example.org, or +447700900123' })
}

/** As the outbox writes it: an address in lower case, a number as the service knows it. */
async function recipientOf(contact: PayerContact): Promise<string> {
  if ('email' in contact) return contact.email
  const { normalisePhone } = await import('../../../src/lib/payer-contact.ts')
  return normalisePhone(contact.phone) ?? contact.phone
}

const verify = verb({
  schema: z
    .strictObject({
      link: Ref.link.optional(),
      token: Text.optional(),
      as: Name.optional(),
      expect: expectedOf(PayerSession.pick({ contact: true, expires_in: true, token_type: true })),
    })
    .refine((input) => 'link' in input !== 'token' in input, 'payer.verify takes one of link and token'),
  text: 'Opens the link, or an invented `token`.',
  examples: ['payer.verify: { as: ada, link: $link }'],
  makes: { kind: 'payer', members: ['contact'] },
  play: sends({
    operation: verifyLink,
    what: 'the session',
    request: (run, input) => ({
      body: { token: input.link === undefined ? (input.token ?? '') : madeOf(run, 'link', input.link).token },
    }),
    shown: ({ session_token: _token, ...shown }) => shown,
    made: (_run, { session_token: sessionToken }) => ({ kind: 'payer', sessionToken }),
  }),
})

export function inHub(run: CaseRun, reference: string): Client {
  return withPayerSession(run.client, madeOf(run, 'payer', reference).sessionToken)
}

/** What a list of the hub holds: how many there are, and the newest of them, the newest first. */
const Listed = z.strictObject({
  payer: Ref.payer,
  count: Matcher.optional(),
  newest: z.array(Matcher).max(50).optional(),
})

function lists(what: string, operation: typeof listPayerPayments | typeof listPayerConsents) {
  return holds<z.output<typeof Listed>, unknown>({
    what: ({ payer }) => `the ${what} of ${payer}`,
    async now(run, { payer, newest = [] }) {
      const { data } = (await call(inHub(run, payer), operation, {})).body
      // An empty list says that there is none.
      return { count: data.length, newest: data.slice(0, Math.max(newest.length, 1)) }
    },
    beside: ['payer'],
  })
}

export const PAYER_VERBS = {
  'payer.link': link,
  'payer.verify': verify,
  'payer.payments': verb({
    schema: Listed,
    text: 'Checks the payments that the hub lists.',
    examples: [
      'payer.payments: { payer: $ada, count: 1 }',
      'payer.payments: { payer: $ada, count: 1, newest: [{ status: Settled }] }',
    ],
    play: lists('payments', listPayerPayments),
  }),
  'payer.consents': verb({
    schema: Listed,
    text: 'Checks the mandates that the hub lists.',
    examples: ['payer.consents: { payer: $ada, count: 0 }'],
    play: lists('mandates', listPayerConsents),
  }),
  'payer.dispute': verb({
    schema: z.strictObject({
      payer: Ref.payer,
      payment: Ref.payment,
      reason: DisputeReason,
      statement: Text.optional(),
      as: Name.optional(),
      expect: expectedOf(PayerDispute),
    }),
    text: 'Disputes a payment in the hub.',
    examples: ['payer.dispute: { as: d1, payer: $ada, payment: $p1, reason: ITEM_NOT_RECEIVED }'],
    makes: made('dispute', PayerDispute),
    play: sends({
      operation: raisePayerDispute,
      what: 'the dispute',
      by: (run, { payer }) => inHub(run, payer),
      request: (run, { payment, reason, statement }) => ({
        params: { id: madeOf(run, 'payment', payment).created.payment_id },
        body: { reason, ...(statement === undefined ? {} : { payer_statement: statement }) },
      }),
      made: (_run, dispute) => ({ kind: 'dispute', dispute }),
    }),
  }),
  'payer.sign_out': verb({
    schema: z.strictObject({ payer: Ref.payer }),
    text: 'Ends the session of the payer.',
    examples: ['payer.sign_out: { payer: $ada }'],
    play: sends({
      operation: signOutPayer,
      what: 'the answer',
      by: (run, { payer }) => inHub(run, payer),
      request: () => ({}),
    }),
  }),
}

export const RECEIPT = {
  subject: 'A payment as its payer sees it in the hub',
  awaits: [],
  expects: [
    comparison({
      schema: z.strictObject({
        ...matchersOf(PayerReceipt),
        receipt: Ref.payment,
        payer: Ref.payer,
        /** The statuses that the payment has been in, in their order. */
        history: z.array(PaymentStatus).optional(),
      }),
      examples: ['expect: { receipt: $p1, payer: $ada, status: Settled }'],
      what: ({ receipt }) => `the receipt of ${receipt}`,
      async now(run, { receipt, payer }) {
        const { payment_id: id } = madeOf(run, 'payment', receipt).created
        return withHistory((await call(inHub(run, payer), getPayerPayment, { params: { id } })).body)
      },
      beside: ['receipt', 'payer'],
    }),
  ],
} as const satisfies Subject
