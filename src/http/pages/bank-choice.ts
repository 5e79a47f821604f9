import { logoPath } from '../../banks/catalogue.ts'
import type { CatalogueBank } from '../../banks/catalogue.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'

/** Maximum length of a search. */
const SEARCH_LENGTH_MAX = 100

/** Banks whose name contains each of the words, in any case. */
export function banksNamed(banks: readonly CatalogueBank[], search: string): readonly CatalogueBank[] {
  const words = plain(search.slice(0, SEARCH_LENGTH_MAX)).split(/\s+/)
  return banks.filter(({ name }) => words.every((word) => plain(name).includes(word)))
}

/** Radio buttons, the popular banks first. */
export function bankChoice(banks: readonly CatalogueBank[]): Html {
  const popular = banks.filter((bank) => bank.popular)
  const others = banks.filter((bank) => !bank.popular)
  return html`${group('Popular banks', popular)}
${group(popular.length === 0 ? 'Banks' : 'More banks', others)}`
}

function group(title: string, banks: readonly CatalogueBank[]): Html | undefined {
  if (banks.length === 0) return undefined
  return html`<fieldset>
<legend>${title}</legend>
<div class="choices">
${banks.map(
  (
    bank,
  ) => html`<label class="choice"><input type="radio" name="bank" value="${bank.id}" required> ${logo(bank)} ${bank.name}</label>
`,
)}</div>
</fieldset>`
}

/** The logo is decorative, because the name is beside it. */
function logo(bank: CatalogueBank): Html {
  return html`<img src="${logoPath(bank)}" alt="" width="32" height="32" loading="lazy">`
}

function plain(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trim()
}
