import t from 'tap'
import { doesIt, formOf, givenSoFar, pasted, refused, rewritten, stepped } from '../../../cli/console/model/modal.ts'
import type { Field, Form, FormInput } from '../../../cli/console/model/modal.ts'

/* Forms: their way forth and back, the last look, what a refusal does, and what is not taken. */

const AMOUNT: Field = { name: 'amount', label: 'Amount', kind: 'line', initial: '50.00' }
const REASON: Field = { name: 'reason', label: 'Reason', kind: 'line', optional: true, sent: 'resolution_note' }
const FAVOUR: Field = { name: 'favour', label: 'Who', kind: 'choice', words: ['merchant', 'payer'] }

function form(fields: readonly Field[], wish: Partial<FormInput> = {}): Form {
  return formOf({ key: 'r', title: 'refund', about: [], ids: ['1'], live: false, fields, ...wish })
}

/** What the keys make of it: the form, or how it ended. */
function after(from: Form, ...keys: string[]): { form: Form; end: unknown } {
  let now = from
  for (const key of keys) {
    const step = stepped(now, key)
    if (!('form' in step)) return { form: now, end: step }
    now = step.form
  }
  return { form: now, end: undefined }
}

t.test('what weighs is looked at once more; what does not is done at once', async (t) => {
  t.same(after(form([AMOUNT, REASON]), 'enter', 'enter').end, { done: { amount: '50.00' } })
  const last = ({ amount = '' }): string => `refunds ${amount} GBP to Priya`
  const { form: looked, end } = after(form([AMOUNT, REASON], { last }), 'enter', 'enter')
  t.equal(end, undefined, 'two Enters do nothing yet')
  t.equal(looked.at, 2)
  t.equal(looked.last?.(looked.given), 'refunds 50.00 GBP to Priya')
  t.same(after(looked, 'enter').end, { done: { amount: '50.00' } })
  t.same(after(looked, 'esc').end, { cancelled: true })
  t.same(after(form([], { last }), 'enter').end, { done: {} }, 'without fields it is the only step')
  const typed: Field = { name: 'confirmed', label: 'LIVE', kind: 'typed', words: ['acme'] }
  t.same(
    after(form([AMOUNT, typed], { last, live: true }), 'enter', ...'acme', 'enter').end,
    { done: { amount: '50.00' } },
    'who has typed it has looked',
  )
})

t.test('going back keeps what was typed, and what is emptied is gone', async (t) => {
  const start = form([AMOUNT, FAVOUR, REASON], { last: () => '' })
  const { form: atReason } = after(start, 'enter', 'down', 'enter', 'o', 'd', 'd')
  t.match(givenSoFar(atReason), { amount: '50.00', favour: 'payer', reason: 'odd' })
  const { form: atFavour } = after(atReason, 'up')
  t.match(atFavour, { at: 1, chosen: 1 }, 'the choice stands where it stood')
  const { form: atAmount } = after(atFavour, 'shift-tab')
  t.match(atAmount, { at: 0, edit: { text: '50.00' } })
  t.equal(after(atAmount, 'shift-tab', 'up').form.at, 0, 'before the first there is none')
  const { form: looked } = after(atAmount, 'backspace', '5', 'enter', 'enter', 'enter')
  t.same(looked.given, { amount: '50.05', favour: 'payer', reason: 'odd' })
  t.same(after(looked, 'shift-tab', 'ctrl-u', 'enter').form.given, { amount: '50.05', favour: 'payer' })
})

t.test('a refusal leads to the field that it names, and asks for the typed word again', async (t) => {
  const typed: Field = { name: 'confirmed', label: 'LIVE', kind: 'typed', words: ['acme'] }
  const { form: done } = after(form([AMOUNT, REASON, typed]), 'enter', 'x', 'enter', ...'acme')
  const back = refused({ ...done, isWorking: true }, 'is too much', ['amount'])
  t.match(back, { at: 0, edit: { text: '50.00' }, problem: 'is too much', isWorking: false })
  t.match(after(back, 'enter', 'enter').form, { at: 2, edit: { text: '' }, given: { amount: '50.00', reason: 'x' } })
  t.match(refused(done, 'no', ['resolution_note']), { at: 1, edit: { text: 'x' } }, 'by the name it is sent under')
  t.match(refused(done, 'no', ['else']), { at: 2, problem: 'no', edit: { text: 'acme' } })
})

t.test('a choice about money is not made by pressing Enter alone', async (t) => {
  const asked = form([{ ...FAVOUR, asks: true }, REASON])
  t.match(after(asked, 'enter').form, { at: 0, problem: 'Who: choose one' })
  t.same(givenSoFar(asked), {}, 'nor does the command name one')
  for (const [key, favour] of [
    ['down', 'merchant'],
    ['up', 'payer'],
    ['p', 'payer'],
    ['k', 'payer'],
  ] as const)
    t.match(after(asked, key, 'enter').form, { at: 1, given: { favour } }, key)
  t.match(after(asked, 'x', 'enter').form, { at: 0 }, 'a letter of none of them')
  const reasons = { ...FAVOUR, words: ['ITEM_NOT_RECEIVED', 'OTHER'], asks: true as const }
  t.match(after(form([reasons, REASON]), 'o', 'enter').form, { at: 1, given: { favour: 'OTHER' } }, 'small or large')
  t.match(after(asked, 'p', 'enter', 'shift-tab').form, { at: 0, chosen: 1 }, 'and it stands where it stood')
})

t.test('what Enter does now is known beforehand', async (t) => {
  const last = (): string => 'refunds it'
  const typed: Field = { name: 'confirmed', label: 'LIVE', kind: 'typed', words: ['acme'] }
  const stepsOf = (start: Form, ...keys: string[]): boolean[] =>
    keys.map((_, count) => doesIt(after(start, ...keys.slice(0, count)).form))
  t.same(stepsOf(form([AMOUNT, REASON]), 'enter', 'enter'), [false, true])
  t.same(stepsOf(form([AMOUNT, REASON], { last }), 'enter', 'enter', 'enter'), [false, false, true])
  t.same(stepsOf(form([AMOUNT, typed], { last }), 'enter', 'enter'), [false, true])
  t.same(stepsOf(form([], { last }), 'enter'), [true])
})

t.test('an invalid value is rejected at its own field, and joined lines are reported', async (t) => {
  const share: Field = { ...AMOUNT, initial: '5', check: (text) => (text.endsWith('%') ? undefined : 'no share') }
  const { form: refusedAt } = after(form([share, REASON]), 'enter')
  t.match(refusedAt, { at: 0, problem: 'Amount: no share', edit: { text: '5' } })
  t.match(after(refusedAt, '%', 'enter').form, { at: 1, problem: undefined, given: { amount: '5%' } })
  const from = form([REASON])
  t.match(pasted(from, 'one\ntwo'), { edit: { text: 'one two' }, note: /lines were joined/ })
  t.match(rewritten(from, 'one\r\ntwo\n'), { note: /lines were joined/ })
  t.equal(rewritten(from, 'one\n').note, undefined, 'the end of a line is none lost')
  t.equal(after(pasted(from, 'one\ntwo'), 'x').form.note, undefined)
})

t.test('control characters are refused at once', async (t) => {
  const { form: at } = after(form([REASON]), 'a')
  for (const text of ['red \u001b[31m', '\u009b2J', 'a\u0007'])
    t.match(pasted(at, text), { edit: { text: 'a' }, problem: /control characters/ })
  t.match(after(at, '\u009b').form, { edit: { text: 'a' }, problem: /control characters/ })
  t.match(rewritten(at, 'x\u001b[0m'), { edit: { text: 'a' }, problem: /control characters/ })
  t.match(rewritten(at, ' two\nlines\n'), { edit: { text: 'two lines' }, problem: undefined })
  t.match(pasted(pasted(at, '\u001b'), 'b\tc'), { edit: { text: 'ab c' }, problem: undefined })
})
