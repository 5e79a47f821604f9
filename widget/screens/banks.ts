import type { Bank } from '../../src/wire/banks.ts'
import { el } from '../dom.ts'
import { bankList } from './bank-list.ts'
import { bankMark, bankName, heading, screenOf, backLink } from './parts.ts'
import type { View } from './view.ts'

/** ST-02: the last used bank, the popular ones, and a search over all. */
export function banksScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  const banks = view.state.banks ?? []
  const popular = banks.filter((bank) => bank.popular)
  return screenOf(
    heading(texts.banksTitle),
    view.preferred?.available && quickPay(view, view.preferred),
    popular.length > 0 && [
      el('h2', { id: 'popular' }, texts.popular),
      el(
        'ul',
        { class: 'grid', 'aria-labelledby': 'popular' },
        ...popular.map((bank) => el('li', {}, tile(view, bank))),
      ),
    ],
    bankList(view, banks),
    backLink(view, { type: 'CANCEL' }),
  )
}

function tile(view: View, bank: Bank): HTMLElement {
  const onclick = (): void => view.send({ type: 'CHOOSE', bank })
  const disabled = !bank.available
  return el('button', { type: 'button', class: 'tile', disabled, onclick }, bankMark(bank), bankName(view, bank))
}

function quickPay(view: View, bank: Bank): HTMLElement {
  const { texts, fill } = view.l10n
  const onclick = (): void => view.send({ type: 'CHOOSE', bank })
  const label = el('span', {}, fill(texts.quickPay, { bank: bank.name }), el('small', {}, texts.lastUsed))
  return el('button', { type: 'button', class: 'quick', onclick }, bankMark(bank), label)
}
