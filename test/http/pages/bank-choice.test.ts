import t from 'tap'
import { MOCK_BANKS } from '../../../src/banks/catalogue.ts'
import { ENGLISH } from '../../../src/http/pages/payer-language.ts'
import { bankChoice } from '../../../src/http/pages/bank-choice.ts'

t.test('a bank that does not answer is shown, and cannot be chosen', async (t) => {
  const [first, second] = MOCK_BANKS
  if (first === undefined || second === undefined) throw new Error('there are two banks')
  const { html: page } = bankChoice([first, second], {
    availability: { isAvailable: (id) => id !== first.id, unavailableSince: () => null },
    language: ENGLISH,
  })
  t.match(page, new RegExp(`value="${first.id}" disabled>[^]*${first.name} <small>Not available at the moment</small>`))
  t.match(page, new RegExp(`value="${second.id}" required>`))
  t.notMatch(page, new RegExp(`${second.name} <small>`))
  const { html: later } = bankChoice([first], {
    availability: { isAvailable: () => false, unavailableSince: () => '2026-06-09T14:32:00.000Z' },
    language: ENGLISH,
  })
  t.match(later, `${first.name} <small>Not available since 9 June 2026 at 15:32:00 BST</small>`)
})
