import t from 'tap'
import { failureOf, isFailureCode } from '../../src/lib/failure-codes.ts'
import type { FailureCode } from '../../src/lib/failure-codes.ts'
import { MEANINGS } from '../../src/lib/failure-meaning.ts'
import { explainFailure } from '../../widget/failures.ts'
import { ENGLISH } from '../../widget/hub/language.ts'
import { failureText } from '../../widget/hub/failure-text.ts'
import { pseudo } from '../../widget/locales/ar-xb.ts'
import { texts as cy } from '../../src/lib/locales/checkout/cy.ts'
import { texts as de } from '../../src/lib/locales/checkout/de.ts'
import { texts as es } from '../../src/lib/locales/checkout/es.ts'
import { texts as fr } from '../../src/lib/locales/checkout/fr.ts'
import { en } from '../support/english.ts'
import type { Texts } from '../../src/lib/locales/checkout/en.ts'

/** Table 3.4 of the decisions. */
const CODES = Object.keys(MEANINGS) as FailureCode[]

/** What says that the payer keeps the money, and what sends the payer to another try. */
const CLAIM = /no money (was taken|left)|nothing (was paid|left|was taken)|paid nothing|ni chymerwyd/i
const TRY = /\b(try again|another (bank|account|one)|ceisiwch eto|dewiswch (fanc|gyfrif) arall)/i
const LOOK = /(check|look at) your account before you pay again|gwiriwch eich cyfrif cyn talu eto/i

/** The hub's text, as the hosted pages have it too. */
function inHub(code: string, source = 'PLATFORM'): string {
  return failureText(ENGLISH, { code, source, reason: 'The bank said no' })
}

/** All that a payer reads of a failure, by where. */
function told(code: FailureCode): Record<string, string> {
  const { text, nothingTaken, remedy } = explainFailure(code)
  const widget = (texts: Texts): string =>
    [texts.failures[text], nothingTaken && texts.nothingTaken, remedy === 'again' && texts.again].join(' ')
  return {
    widget: widget(en),
    'widget, in Welsh': widget(cy),
    hub: inHub(code),
  }
}

const TRANSLATIONS = [cy, de, es, fr, pseudo(en)]

t.test('there are seventeen failures, each with the claim about money that the contract allows', async (t) => {
  t.equal(CODES.length, 17)
  t.same(
    CODES.filter((code) => !MEANINGS[code].nothingTaken),
    ['DUPLICATE_PAYMENT', 'BANK_TIMEOUT'],
  )
})

t.test('widget, hub and pages make the same claims about money, and only certain ones', async (t) => {
  for (const code of CODES) {
    const { nothingTaken, remedy } = MEANINGS[code]
    for (const [where, words] of Object.entries(told(code))) {
      if (!nothingTaken) t.notMatch(words, CLAIM, `${code}, ${where}: nothing is claimed`)
      else t.match(words, CLAIM, `${code}, ${where}: no money is gone`)
      if (!nothingTaken) t.match(words, LOOK, `${code}, ${where}: the account has the answer`)
      if (remedy === 'none') t.notMatch(words, TRY, `${code}, ${where}: it can only fail again`)
    }
  }
})

t.test('every failure has its own text in every language', async (t) => {
  for (const code of CODES) {
    t.ok(isFailureCode(code) && failureOf(code), `${code} is one of the service`)
    const { text } = explainFailure(code)
    t.equal(text, code)
    for (const texts of [en, ...TRANSLATIONS]) t.ok(texts.failures[text].length > 10, code)
  }
})

t.test('"no money was taken" appears only if it is certain', async (t) => {
  for (const code of CODES) t.match(explainFailure(code), MEANINGS[code], code)
  t.equal(explainFailure('CHECKOUT_ATTEMPTS_USED').nothingTaken, false)
  t.same(explainFailure('SOMETHING_NEW'), { text: 'UNKNOWN', remedy: 'again', nothingTaken: false })
})

t.test('a payment cancelled on our page was not cancelled at the bank', async (t) => {
  t.match(explainFailure('ACCESS_DENIED', 'PAYER'), { text: 'PAYER_CANCELLED', remedy: 'again', nothingTaken: true })
  t.equal(explainFailure('ACCESS_DENIED', 'ASPSP_REJECTION').text, 'ACCESS_DENIED')
  t.equal(explainFailure('BANK_ERROR', 'PAYER').text, 'BANK_ERROR')
  t.match(inHub('ACCESS_DENIED', 'PAYER'), /another tab or window\. No money was taken\.$/)
  t.match(inHub('ACCESS_DENIED', 'ASPSP_REJECTION'), /^You cancelled at your bank\. No money/)
})

t.test('a code named like an object property has no text', async (t) => {
  for (const code of ['constructor', '__proto__', 'toString', '']) t.equal(explainFailure(code).text, 'UNKNOWN', code)
  for (const code of ['SOMETHING_NEW', 'constructor', '__proto__']) t.equal(inHub(code), 'The bank said no.', code)
})

t.test('no retry is offered if it can only fail again', async (t) => {
  const hopeless = [...CODES, 'CHECKOUT_ATTEMPTS_USED', 'MERCHANT_INACTIVE', 'PAYOUT_HELD', 'CHECKOUT_TOKEN_INVALID']
  t.same(
    hopeless.filter((code) => explainFailure(code).remedy === 'none'),
    [
      'INVALID_CREDITOR_ACCOUNT',
      'DUPLICATE_PAYMENT',
      'CANCELLED_BY_MERCHANT',
      'CANCELLED_BY_PLATFORM',
      'CHECKOUT_ATTEMPTS_USED',
      'MERCHANT_INACTIVE',
      'PAYOUT_HELD',
      'CHECKOUT_TOKEN_INVALID',
    ],
  )
})

t.test('each language has every text with the same placeholders', async (t) => {
  const names = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).toSorted()
  for (const texts of TRANSLATIONS) {
    t.same(Object.keys(texts).toSorted(), Object.keys(en).toSorted())
    for (const [key, text] of Object.entries(en)) {
      const other = texts[key as keyof typeof en]
      if (typeof text === 'string' && typeof other === 'string') t.same(names(other), names(text), key)
      // What is the same in English was forgotten, but for a word that both languages have.
      if (key !== 'date' && typeof text === 'string') t.not(other, text, key)
    }
  }
})
