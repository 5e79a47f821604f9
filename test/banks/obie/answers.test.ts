import t from 'tap'
import { ConsentAnswer, PaymentAnswer } from '../../../src/banks/obie/resources.ts'

/** What the connector makes of an answer of a bank, member by member. */
const payment = (members: object) =>
  PaymentAnswer.safeParse({ Data: { DomesticVRPId: 'p', ConsentId: 'c', Status: 'Rejected', ...members } })
const consent = (members: object) =>
  ConsentAnswer.safeParse({ Data: { ConsentId: 'c', Status: 'Rejected', ...members } })

const READABLE: readonly [unknown, unknown][] = [
  ['AM04', [{ StatusReasonCode: 'AM04' }]],
  ['UK.OBIE.OtherReason', [{ StatusReasonCode: 'UK.OBIE.OtherReason' }]],
  [[{ StatusReasonCode: 'AM04', Path: 'Data' }], [{ StatusReasonCode: 'AM04' }]],
  [[{ StatusReasonDescription: 'no money' }], [{}]],
  [[], []],
]
const UNREADABLE: readonly unknown[] = [
  7,
  true,
  null,
  { StatusReasonCode: 'AM04' },
  ['AM04'],
  [{ StatusReasonCode: 4 }],
]

t.test('a reason is read in the form of either version, and one in no form is none: the status counts', async (t) => {
  for (const [given, read] of [...READABLE, ...UNREADABLE.map((each) => [each, undefined] as const)])
    for (const answer of [payment({ StatusReason: given }), consent({ StatusReason: given })]) {
      t.ok(answer.success, JSON.stringify(given))
      t.equal(answer.data?.Data.Status, 'Rejected')
      t.same(answer.data?.Data.StatusReason, read, JSON.stringify(given))
    }
  t.ok(payment({}).success)
})

t.test('an account of the payer that lacks a member is none: the standard requires none of them', async (t) => {
  const whole = { SchemeName: 'UK.OBIE.SortCodeAccountNumber', Identification: '20000011112222' }
  for (const account of [{}, { Name: 'A Payer' }, { ...whole, Identification: 7 }, 'A Payer', null]) {
    const text = JSON.stringify(account)
    t.match(consent({ Debtor: account, DebtorAccount: whole }).data?.Data, { DebtorAccount: whole }, text)
    for (const answer of [
      consent({ Debtor: account }),
      consent({ DebtorAccount: account }),
      payment({ Refund: account }),
      payment({ Refund: { Account: account } }),
    ]) {
      t.ok(answer.success, text)
      t.match(answer.data?.Data, { Debtor: undefined, DebtorAccount: undefined, Refund: undefined }, text)
    }
  }
  t.same(payment({ Refund: { Account: whole } }).data?.Data.Refund, whole)
  t.same(payment({ Refund: whole }).data?.Data.Refund, whole)
})

t.test('without a status, or the id of its consent, an answer says nothing', async (t) => {
  for (const members of [{ Status: undefined }, { Status: 7 }, { Status: ['Rejected'] }, { ConsentId: undefined }])
    for (const answer of [payment(members), consent(members)]) t.notOk(answer.success, JSON.stringify(members))
})
