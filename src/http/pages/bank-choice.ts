import { logoPath } from '../../banks/catalogue.ts'
import type { BankCatalogue, CatalogueBank } from '../../banks/catalogue.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import type { PayerLanguage } from './payer-language.ts'
import { timeText } from './time-text.ts'

/** Maximum length of a search. */
const SEARCH_LENGTH_MAX = 100

/** Banks whose name contains each of the words, in any case. */
export function banksNamed(banks: readonly CatalogueBank[], search: string): readonly CatalogueBank[] {
  const words = plain(search.slice(0, SEARCH_LENGTH_MAX)).split(/\s+/)
  return banks.filter(({ name }) => words.every((word) => plain(name).includes(word)))
}

type Availability = Pick<BankCatalogue, 'isAvailable' | 'unavailableSince'>
type BankChoiceOptions = { availability: Availability; language: PayerLanguage }

/** Radio buttons, the popular banks first. */
export function bankChoice(banks: readonly CatalogueBank[], { availability, language }: BankChoiceOptions): Html {
  const { checkout, pages } = language
  const popular = banks.filter((bank) => bank.popular)
  const others = banks.filter((bank) => !bank.popular)
  const group = (title: string, banks: readonly CatalogueBank[]): Html | undefined =>
    groupOf(
      title,
      banks.map((bank) => choice(bank, whyNot(bank, availability, language))),
    )
  return html`${group(checkout.popular, popular)}
${group(popular.length === 0 ? checkout.allBanks : pages.moreBanks, others)}`
}

function groupOf(title: string, choices: readonly Html[]): Html | undefined {
  if (choices.length === 0) return undefined
  return html`<fieldset>
<legend>${title}</legend>
<div class="choices">
${choices}</div>
</fieldset>`
}

/** Why a bank can't be chosen, if it can't: with the time in words that say their time zone. */
function whyNot(
  { id }: CatalogueBank,
  { isAvailable, unavailableSince }: Availability,
  { checkout, fill, tag }: PayerLanguage,
): string | undefined {
  if (isAvailable(id)) return undefined
  const since = unavailableSince(id)
  return since === null ? checkout.unavailable : fill(checkout.unavailableSince, { time: timeText(since, tag) })
}

function choice(bank: CatalogueBank, reason: string | undefined): Html {
  const input =
    reason === undefined
      ? html`<input type="radio" name="bank" value="${bank.id}" required>`
      : html`<input type="radio" name="bank" value="${bank.id}" disabled>`
  return html`<label class="choice">${input} ${logo(bank)} ${bank.name}${reason === undefined ? undefined : html` <small>${reason}</small>`}</label>
`
}

/** The logo is decorative, because the name is beside it. */
function logo(bank: CatalogueBank): Html {
  return html`<img src="${logoPath(bank)}" alt="" width="32" height="32" loading="lazy">`
}

function plain(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trim()
}
