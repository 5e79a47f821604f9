import t from 'tap'
import { jsonSchema } from '../../cli/scenario/read/file-schema.ts'
import { VERBS } from '../../cli/scenario/language.ts'
import type { VerbTable } from '../../cli/scenario/language/parts.ts'
import { nearestWord } from '../../cli/base/nearest-word.ts'
import { readScenarios } from '../../cli/scenario/read/read-scenarios.ts'
import { mistakeText } from '../../cli/scenario/read/source.ts'
import { PAY, casesOf, mistakesOf, scenarioOf } from './read.ts'

const DISPUTE = 'dispute: { payment: $p1, reason: OTHER, as: d1 }'

t.test('documents become cases in their order, with their variables filled in', async (t) => {
  const text = `${scenarioOf(['pay: { as: p1, amount: $amount, currency: GBP, remittance_reference: "No ${n}" }'], 'vars: { amount: "50.00", n: 7 }\n')}---\n${scenarioOf([PAY])}`
  const [first, second] = casesOf(text)
  t.match(first, {
    name: 'a case',
    number: 1,
    steps: [{ number: 1, verb: 'pay', input: { amount: '50.00', remittance_reference: 'No 7' } }],
  })
  t.match(second, { number: 2 })
  t.match(casesOf(text, { amount: '1.00' })[0]?.steps[0]?.input, { amount: '1.00' }, 'the command line wins')
})

t.test('JSON is a scenario too, and an empty document is none', async (t) => {
  const json = JSON.stringify({
    scenario: 'v1',
    name: 'in JSON',
    steps: [{ pay: { amount: '5.00', currency: 'GBP' } }],
  })
  t.equal(casesOf(json)[0]?.name, 'in JSON')
  t.equal(casesOf(`---\n${scenarioOf([PAY])}---\n# the end\n`).length, 1)
  t.same(mistakesOf('# nothing\n'), ['1:1 there is no scenario in this file'])
})

t.test('an unknown verb is reported at its place, with the nearest one', async (t) => {
  t.same(mistakesOf(scenarioOf(['pays: { amount: "5.00", currency: GBP }'])), [
    '4:5 unknown verb "pays": did you mean "pay"?',
  ])
  t.same(mistakesOf(scenarioOf(['dance: { }'])), ['4:5 unknown verb "dance"'])
  t.same(mistakesOf(scenarioOf(['clock'])), ['4:5 a step must be a verb and what it takes: did you mean "clock: …"?'])
  t.same(mistakesOf(scenarioOf([`${PAY}\n    expect_eror: { http: 403 }`])), [
    '5:5 unknown verb "expect_eror": did you mean "expect_error"?',
  ])
  t.same(mistakesOf(scenarioOf([`${PAY}\n    clock: { advance: 1h }`])), [
    '5:5 a step has one verb; here are "pay" and "clock"',
  ])
})

t.test('an unknown field is reported at its place, in every part of the file', async (t) => {
  t.same(mistakesOf(scenarioOf([PAY, 'expect: { of: $p1, staus: Settled }'])), [
    '5:24 unknown field "staus": did you mean "status"?',
  ])
  t.same(mistakesOf(scenarioOf(['http: { get: /payments, expect: { htp: 200 } }'])), [
    '4:39 unknown field "htp": did you mean "http"?',
  ])
  t.same(mistakesOf(scenarioOf([PAY], 'given: { merchant: { kybs: APPROVED } }\n')), [
    '3:22 unknown field "kybs": did you mean "kyb"?',
  ])
  t.same(mistakesOf(scenarioOf([PAY], 'givn: { }\n')), ['3:1 unknown field "givn": did you mean "given"?'])
})

t.test('a value of the wrong kind is reported with the rule', async (t) => {
  t.same(mistakesOf(scenarioOf([PAY, 'await: { payment: $p1, status: Setled }'])), [
    '5:36 status can\'t be "Setled": did you mean Settled?',
  ])
  t.same(mistakesOf(scenarioOf(['clock: { advance: 11 hours }'])), [
    '4:23 advance must be a duration such as 250ms, 10s, 5m, 11h or 2d',
  ])
  t.same(mistakesOf(scenarioOf(['receiver: { answers: 500 }'])), ['4:26 answers must be a list: [ … ]; it is 500'])
  t.same(mistakesOf(scenarioOf(['pay: { currency: GBP }'])), ['4:5 "amount" is missing here'])
  t.same(mistakesOf(scenarioOf([PAY, 'bank: { approve: $p1, cancel: $p1 }'])), [
    '5:5 bank takes one of approve, cancel and fault',
  ])
  t.same(mistakesOf(scenarioOf([PAY, 'expect: { of: $p1, status: "/(/" }'])), [
    '5:32 status holds a regular expression that is none: Invalid regular expression: /(/: Unterminated group',
  ])
  t.same(mistakesOf(scenarioOf([PAY, 'expect: { of: $p1, payment_id: { type: uid } }'])), [
    '5:36 payment_id asks for the type "uid"; there are uuid, timestamp, money, string, number, boolean',
  ])
  t.same(mistakesOf('scenario: v2\nname: x\nsteps: []\n'), [
    '1:11 scenario must be v1; it is "v2"',
    '3:8 steps must have at least 1 entry',
  ])
})

t.test('a duration has a limit, which is reported', async (t) => {
  t.same(mistakesOf(scenarioOf(['clock: { advance: 401d }'])), ['4:23 advance must be at most 400d'])
  t.same(mistakesOf(scenarioOf(['receiver: { delay: 61m }'])), ['4:24 delay must be at most 1h'])
  t.same(mistakesOf(scenarioOf([PAY, 'await: { payment: $p1, status: Settled, within: 999999999d }'])), [
    '5:53 within must be at most 1h',
  ])
  t.same(mistakesOf(scenarioOf(['clock: { advance: 400d }', 'receiver: { delay: 1h }'])), [])
})

t.test('an expectation that expects nothing is refused', async (t) => {
  t.same(mistakesOf(scenarioOf([PAY, 'expect: { of: $p1 }'])), ['5:5 expect says nothing about $p1'])
  const made: [string, string][] = [
    ['order: { as: x, from: $a, to: $b, amount: "1.00" }', 'order'],
    ['offer: { as: x, from: $a, to: $b, amount: "1.00" }', 'offer'],
    ['request: { as: x, from: $a, to: $b, amount: "1.00" }', 'request'],
    ['recurring: { as: x, from: $a, to: $b, amount: "1.00", frequency: EvryDay, first: 1d }', 'recurring'],
    ['pay: { as: x, amount: "1.00", currency: GBP }', 'consent'],
  ]
  for (const [step, kind] of made)
    t.same(
      mistakesOf(scenarioOf(['customer: { as: a }', 'customer: { as: b }', step, `expect: { ${kind}: $x }`])),
      ['7:5 expect says nothing about $x'],
      kind,
    )
  t.same(mistakesOf(scenarioOf([PAY, 'expect: { webhook: payment.initiated, for: $p1 }'])), [], 'that there is one')
})

t.test('an unknown field is reported with those of the form that was meant', async (t) => {
  const hintOf = (step: string): string =>
    readScenarios({ file: 'x.yaml', text: scenarioOf([PAY, step]), vars: {} }).mistakes[0]?.hint ?? ''
  const ofPayment = hintOf('expect: { of: $p1, zzzzz: 1 }')
  t.match(ofPayment, /\bstatus_history\b/)
  t.notMatch(ofPayment, /attempt_count|payload/)
  t.match(hintOf('expect: { webhook: payment.settled, for: $p1, zzzzz: 1 }'), /attempt_count/)
  t.same(mistakesOf(scenarioOf([PAY, 'expect: { webhook: payment.settled, for: $p1, attempt: 1 }'])), [
    '5:51 unknown field "attempt": did you mean "attempt_count"?',
  ])
  t.same(mistakesOf(scenarioOf(['pya: { amount: "1.00", currency: GBP }'])), [
    '4:5 unknown verb "pya": did you mean "pay"?',
  ])
})

t.test("a step's title is its line without its comment", async (t) => {
  const titleOf = (step: string): string | undefined => casesOf(scenarioOf([step]))[0]?.steps[0]?.title
  const quoted = 'pay: { amount: "5.00", currency: GBP, remittance_reference: "order #5 # 6" }'
  t.equal(titleOf(`${quoted} # a comment "with" quotes`), quoted)
  t.equal(titleOf(quoted.replaceAll('"', "'")), quoted.replaceAll('"', "'"))
  t.equal(
    titleOf("pay: { amount: '5.00', currency: GBP, payer_name: Ann's } # it's"),
    "pay: { amount: '5.00', currency: GBP, payer_name: Ann's }",
  )
})

t.test('an amount without quotes is reported with the quoted form', async (t) => {
  t.same(mistakesOf(scenarioOf(['pay: { amount: 50.00, currency: GBP }'])), [
    "4:20 50.00 is a floating-point number here, which can't hold an amount exactly: quote it",
  ])
  t.same(mistakesOf(scenarioOf(['pay: { amount: 50, currency: GBP }'])), ['4:20 amount must be text: quote it'])
  t.same(mistakesOf(scenarioOf([PAY, 'expect: { of: $p1, fee_amount: 1 }'])), [
    '5:36 fee_amount is an amount, which is text: "1" in quotes',
  ])
})

t.test('references are checked before anything is played', async (t) => {
  t.same(mistakesOf(scenarioOf([PAY, 'bank: { approve: $p2 }'])), ['5:22 unknown reference $p2: did you mean $p1?'])
  t.same(mistakesOf(scenarioOf(['bank: { approve: $p1 }', PAY])), ['4:22 $p1 is used before the step that makes it'])
  t.same(mistakesOf(scenarioOf([PAY, 'http: { get: "/payments/$p1.paymentId" }'])), [
    '5:18 $p1.paymentId: "p1" has no "paymentId": did you mean $p1.payment_id?',
  ])
  t.same(mistakesOf(scenarioOf([PAY, 'http: { get: "/payments/$p1" }'])), [
    '5:18 $p1 is a whole payment inside a text: say which part of it',
  ])
  t.same(mistakesOf(scenarioOf([PAY, 'payments.refund: { payment: $p1, as: r1 }', 'bank: { approve: $r1 }'])), [
    '6:22 $r1 is not valid here: expected payment; only a step pay makes one',
  ])
  t.same(mistakesOf(scenarioOf([PAY, PAY])), ['5:16 the name "p1" is taken already'])
  t.same(
    mistakesOf(scenarioOf(['pay: { amount: "5.00", currency: GBP, payer_name: "US$ 5 or $$p1" }'])),
    [],
    'a dollar sign is no reference by itself',
  )
})

t.test('customers and their orders are named as such, and the settlement account by its merchant', async (t) => {
  const customer = 'customer: { as: c1, balance: "50.00" }'
  const order = 'order: { as: o1, from: $c1, to: $c1, amount: "1.00" }'
  t.same(
    mistakesOf(scenarioOf([customer, order, 'expect: { order: $o1, Status: Pending }', 'expect: { books: balanced }'])),
    [],
  )
  t.same(mistakesOf(scenarioOf(['expect: { account: $merchant, balance: "0.00" }'])), [])
  t.same(mistakesOf(scenarioOf([PAY, 'expect: { account: $p1, balance: "1.00" }'])), [
    '5:24 $p1 is not valid here: expected customer or merchant; only a step customer or merchant makes one',
  ])
  t.same(mistakesOf(scenarioOf([customer, 'await: { order: $c1, status: Rejected }'])), [
    '5:21 $c1 is not valid here: expected order; only a step order makes one',
  ])
  t.same(mistakesOf(scenarioOf([customer, 'expect: { account: $c1 }'])), ['5:5 expect says nothing about $c1'])
  t.same(mistakesOf(scenarioOf([customer, 'expect: { account: $c1, balance: 50 }'])), [
    '5:38 balance is an amount, which is text: "50" in quotes',
  ])
  t.match(mistakesOf(scenarioOf(['expect: { account: $merchant, transactions: [] }'])), [
    /only a customer's transactions/,
  ])
  t.match(mistakesOf(scenarioOf([customer, 'pay: { amount: "1.00", currency: GBP, from: c1 }'])), [/\$c1/])
})

t.test("a payment can't be rejected after it was made, and the message says what to do instead", async (t) => {
  const { mistakes } = readScenarios({
    file: 'x.yaml',
    text: scenarioOf([PAY, 'bank: { reject: { payment: $p1 } }']),
    vars: {},
  })
  t.match(mistakes, [{ place: { line: 5, column: 13 }, hint: /scenario: insufficient-funds/ }])
})

t.test('invalid YAML is reported where it begins to be wrong', async (t) => {
  t.match(mistakesOf('scenario: v1\nname: "x\nsteps: []\n'), [/^\d+:\d+ not valid YAML: Missing closing "quote/])
  t.match(mistakesOf('scenario: v1\nsteps:\n\t- clock\n'), [/^3:1 not valid YAML: Tabs/])
  t.match(mistakesOf('scenario: v1\nname: a\nname: b\n'), [/^3:1 not valid YAML: Map keys must be unique/])
  t.match(mistakesOf('scenario: v1\nname: *nobody\nsteps: []\n'), [/not valid YAML: Unresolved alias/])
  const bomb = [
    'a: &a [x, x, x, x, x, x, x, x, x]',
    ...'bcdefgh'.split('').map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`)}]`),
  ].join('\n')
  t.match(mistakesOf(`${bomb}\n`), [/not valid YAML/])
})

t.test('all mistakes of a file are reported at once, in their order', async (t) => {
  const text = `${scenarioOf(['pay: { amount: 5.00, currency: GBP }', 'clok: { advance: 1h }'])}---\nscenario: v1\nsteps: [{ clock: { advance: 1 } }]\n`
  t.same(
    mistakesOf(text).map((mistake) => mistake.split(' ')[0]),
    ['4:20', '5:5', '7:1', '8:29'],
  )
})

t.test('a mistake shows its line with a caret below, also in a long line', async (t) => {
  const { mistakes } = readScenarios({
    file: 'shop.yaml',
    text: scenarioOf([PAY, 'expect: { of: $p1, staus: Settled }']),
    vars: {},
  })
  t.equal(
    mistakes.map(mistakeText).join('\n'),
    [
      'shop.yaml:5:24: unknown field "staus": did you mean "status"?',
      '    4 |   - pay: { as: p1, amount: "5.00", currency: GBP }',
      '  > 5 |   - expect: { of: $p1, staus: Settled }',
      '      |                        ^^^^^',
    ].join('\n'),
  )
  const long = readScenarios({
    file: 'x.yaml',
    text: scenarioOf([`pay: { payer_name: "${'x'.repeat(150)}", amount: 5.00, currency: GBP }`]),
    vars: {},
  })
  const [, line = '', caret = ''] = long.mistakes[0]?.excerpt ?? []
  t.equal(line.slice(caret.indexOf('^'), caret.lastIndexOf('^') + 1), '5.00', 'the caret is below what it is about')
  t.ok(line.length < 130)
})

t.test('the JSON Schema has every verb', async (t) => {
  const text = JSON.stringify(jsonSchema())
  for (const verb of Object.keys(VERBS)) t.ok(text.includes(`"${verb}"`), verb)
  t.match(jsonSchema(), { type: 'object', required: ['scenario', 'name', 'steps'], additionalProperties: false })
})

/** What makes the things that examples name. */
const MAKERS: Record<string, string[]> = {
  p1: [PAY],
  d1: [PAY, DISPUTE],
  c1: ['customer: { as: c1 }'],
  c2: ['customer: { as: c2 }'],
  other: ['merchant: { as: other }'],
  link: ['payer.link: { as: link, contact: ada@example.org }'],
  ada: ['payer.link: { as: link, contact: ada@example.org }', 'payer.verify: { as: ada, link: $link }'],
  r1: ['customer: { as: c1 }', 'request: { as: r1, from: $c1, identifier: a@b.example, amount: "1.00" }'],
  f1: ['customer: { as: c1 }', 'offer: { as: f1, from: $c1, identifier: a@b.example, amount: "1.00" }'],
  s1: ['customer: { as: c1 }', 'recurring: { as: s1, from: $c1, to: $c1, amount: "1.00", frequency: EvryDay }'],
  b1: ['bank_account: { as: b1, sort_code: "12-34-56", account_number: "12345678" }'],
}

t.test("each verb's own examples are valid", async (t) => {
  for (const { examples } of Object.values<VerbTable[string]>(VERBS)) {
    for (const example of examples) {
      const named = Array.from(example.matchAll(/\$(\w+)/g), ([, name]) => name ?? '')
      const before = new Set(named.flatMap((name) => MAKERS[name] ?? []))
      t.same(mistakesOf(scenarioOf([...before, example])), [], example)
    }
  }
})

t.test('a field that names a dispute takes no payment, and the other way round', async (t) => {
  t.match(mistakesOf(scenarioOf([PAY, DISPUTE, 'disputes.evidence: { dispute: $p1, text: x }'])), [
    /\$p1 is not valid here: expected dispute; only a step dispute makes one/,
  ])
  t.match(mistakesOf(scenarioOf([PAY, DISPUTE, 'payments.refund: { payment: $d1 }'])), [
    /\$d1 is not valid here: expected payment; only a step pay makes one/,
  ])
  t.match(mistakesOf(scenarioOf([PAY, DISPUTE, 'disputes.accept: { dispute: $d1.id }'])), [
    /dispute must be a dispute by its name, such as \$d1/,
  ])
  t.match(mistakesOf(scenarioOf([PAY, DISPUTE, 'expect: { dispute: $d1 }'])), [/expect says nothing about \$d1/])
  t.match(mistakesOf(scenarioOf([PAY, 'dispute: { payment: $p1, reason: LOST }'])), [/reason can't be "LOST"/])
  t.same(mistakesOf(scenarioOf([PAY, DISPUTE, 'http: { get: "/portal/disputes/$d1.id" }'])), [])
})

t.test('a request as it is written comes from the caller that it names', async (t) => {
  const by = (who: string): string[] =>
    mistakesOf(
      scenarioOf([...new Set(Object.values(MAKERS).flat()), `http: { get: /open-banking/v1/accounts, by: ${who} }`]),
    )
  for (const who of ['$c1', '$ada', '$other', '$merchant', '"${c1}"', 'operator', 'anonymous']) t.same(by(who), [], who)
  t.match(by('$p1'), [
    /\$p1 is not valid here: expected customer or payer or merchant; only a step customer or payer\.verify or merchant makes/,
  ])
  t.match(by('$link'), [/\$link is not valid here: expected customer/])
  t.match(by('$eve'), [/unknown reference \$eve/])
  t.match(by('$c1.name'), [/by must be operator, anonymous, or a customer, payer or merchant by its name/])
  t.match(by('admin'), [/by must be operator, anonymous/])
})

t.test('a status is one, a list, or a matcher', async (t) => {
  const status = (http: string): string[] => mistakesOf(scenarioOf([`http: { get: /x, expect: { http: ${http} } }`]))
  for (const right of ['200', '[200, 202]', '">= 200"', '{ one_of: [200, 202] }']) t.same(status(right), [])
  for (const wrong of ['99', '"ok"', '"/^2/"', '[]', '[ok]', '[700]', '{ one_of: [] }', '{ two_of: [200] }', 'true'])
    t.not(status(wrong).length, 0, wrong)
})

t.test('a receiver takes a secret alone', async (t) => {
  t.same(mistakesOf(scenarioOf([PAY, 'receiver: { secret: newest }'])), [])
  t.match(mistakesOf(scenarioOf([PAY, 'receiver: {}'])), [/receiver takes one or more of answers, delay and secret/])
})

t.test('the nearest word is near', async (t) => {
  const words = ['payment_id', 'status']
  t.equal(nearestWord('paymentId', words), 'payment_id')
  t.equal(nearestWord('statu', words), 'status')
  t.equal(nearestWord('colour', words), undefined)
})

t.test('an alias of what it is inside of is reported at its place', async (t) => {
  const first = scenarioOf([`${PAY}`, 'http: { post: /x, body: &a { x: *a } }', 'clok: { advance: 1h }'])
  t.same(mistakesOf(`${first}---\n${scenarioOf(['dance: {}'])}`), [
    '5:37 *a is inside of what it repeats, which would have no end',
    '11:5 unknown verb "dance"',
  ])
  t.same(mistakesOf(`scenario: v1\nname: x\nsteps: &s\n  - ${PAY}\n  - *s\n`), [
    '5:5 *s is inside of what it repeats, which would have no end',
  ])
  t.same(mistakesOf('scenario: v1\nname: x\nsteps:\n  - &b { clock: &a { advance: 1h } }\n  - *b\n  - clock: *a\n'), [])
})

t.test('what is given can refer to variables only', async (t) => {
  const text = scenarioOf([PAY], 'vars: { shop: Ann }\ngiven: { merchant: { name: "$shop for $$5" } }\n')
  t.equal(casesOf(text)[0]?.given.merchant?.name, 'Ann for $5')
  t.match(mistakesOf(scenarioOf([PAY], 'given: { merchant: { name: $merchant.name } }\n')), [
    /^3:28 unknown reference \$merchant\.name/,
  ])
})

/** What is told of a file, each with how it should be written. */
function hintsOf(text: string): string[] {
  const { mistakes } = readScenarios({ file: 'x.yaml', text, vars: {} })
  return mistakes.map(({ message, hint }) => `${message} | ${hint ?? ''}`)
}

t.test('a word that a verb ends in is taken for it; one like no verb is reported with the usual ones', async (t) => {
  t.match(hintsOf(scenarioOf(['refund: {}'])), [/did you mean "payments\.refund"\? \| - payments\.refund: \{ payment/])
  const [unknown = ''] = hintsOf(scenarioOf(['dance: {}']))
  t.match(unknown, /^unknown verb "dance" \| one of pay, bank, await, expect, .*sandbox scenarios schema/)
  t.ok(unknown.length < 170, 'not all verbs there are')
})

t.test('one value is never held against a list, nor against a misspelt matcher', async (t) => {
  const told = (expected: string): string[] => mistakesOf(scenarioOf([PAY, `expect: { of: $p1, ${expected} }`]))
  t.same(told('status: { oneof: [Settled] }'), ['5:32 status has no matcher "oneof": did you mean one_of?'])
  t.same(told('status: { in: [Settled] }'), ['5:32 status has no matcher "in": did you mean one_of?'])
  t.same(told('status: [Settled]'), ['5:32 status is one value, and never a list: did you mean { one_of: […] }?'])
  t.match(told('gross_amount: { min: "5" }'), [/has no matcher "min": there are one_of, /])
  t.match(told('payment_id: { type: UUID }'), [/takes a word such as uuid/])
  t.match(told('status: { one_of: [Settled], absent: true }'), [/one value|stands alone/])
  t.same(told('metadata: { oneof: "5" }, status: { one_of: [Settled] }, failure: { absent: true }'), [])
  t.same(told('failure: { code: { one_of: [BANK_DOWN] } }, payment_id: { type: uuid }'), [])
})

t.test('what is no scenario, or no step, is reported with how one is written', async (t) => {
  t.match(hintsOf('hello world\n'), [/begins with "scenario: v1".*"hello world" \| svc sandbox scenarios create/])
  t.match(hintsOf('name: x\nsteps: [ clock: 11h ]\n'), [
    '"scenario" is missing here | scenario: v1',
    'clock must be a mapping: { … }; it is "11h" | - clock: { advance: 11h }',
  ])
  t.same(hintsOf(scenarioOf(['pay:'])), [
    'pay must be a mapping: { … }; it is empty | - pay: { as: p1, amount: "50.00", currency: GBP }',
  ])
  t.match(hintsOf(scenarioOf(['disputes.evidence: { text: x }'])), [
    /"dispute" is missing here \| - disputes\.evidence: \{ dispute: \$d1, text: /,
  ])
})
