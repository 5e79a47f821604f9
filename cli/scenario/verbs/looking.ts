import { z } from 'zod'
import { Dispute } from '../../../src/wire/dispute-fields.ts'
import { made } from '../language/parts.ts'
import { ACCOUNT, BOOKS, ORDER } from './customers.ts'
import { DISPUTE } from './disputes.ts'
import { MONEY } from './money.ts'
import { AS_OPERATORS_SEE_IT, AUDIT } from './merchants.ts'
import { RECEIPT } from './payers.ts'
import { REQUEST } from './payment-requests.ts'
import { MANDATE, PAYMENT } from './payments.ts'
import { RECURRING } from './recurring.ts'
import type { Form, Play, Subject, Verb } from './verb.ts'
import { DELIVERY } from './webhooks.ts'

const ALL = [
  PAYMENT,
  DELIVERY,
  DISPUTE,
  MANDATE,
  MONEY,
  RECEIPT,
  ACCOUNT,
  ORDER,
  RECURRING,
  REQUEST,
  AS_OPERATORS_SEE_IT,
  AUDIT,
  BOOKS,
] as const

export const SUBJECTS: readonly Subject[] = ALL

type InputOf<Word extends 'awaits' | 'expects'> = z.input<(typeof ALL)[number][Word][number]['schema']>

/** Any of these forms: the one that fits plays. What it may be is in the types of the forms. */
function schemaOf<Input>(forms: readonly Form[]): z.ZodType<Input, Input> {
  return z.union(forms.map(({ schema }) => schema)) as unknown as z.ZodType<Input, Input>
}

function playerOf(forms: readonly Form[]): Play {
  return async (run, given) => {
    const fitting = forms.find(({ schema }) => schema.safeParse(given).success)
    if (fitting === undefined) throw new Error('no form fits what follows the verb')
    await fitting.play(run, given)
  }
}

const AWAITS = SUBJECTS.flatMap(({ awaits }) => awaits)
const EXPECTS = SUBJECTS.flatMap(({ expects }) => expects)

export const LOOKING_VERBS = {
  await: {
    schema: schemaOf<InputOf<'awaits'>>(AWAITS),
    text: 'Waits for a status; one that was passed in the meantime counts too.',
    examples: ['await: { payment: $p1, status: Settled, within: 10s }'],
    makes: made('dispute', Dispute),
    play: playerOf(AWAITS),
  },
  expect: {
    schema: schemaOf<InputOf<'expects'>>(EXPECTS),
    text: 'Checks how things are now.',
    examples: [
      'expect: { of: $p1, status: Settled }',
      'expect: { of: $p1, status: Settled, history: [AwaitingAuthorisation, Authorised, Settled] }',
    ],
    play: playerOf(EXPECTS),
  },
} as const satisfies Record<string, Verb>
