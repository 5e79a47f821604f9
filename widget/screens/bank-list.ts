import type { Bank } from '../../src/wire/banks.ts'
import { el } from '../dom.ts'
import { bankMark, bankName, paragraph } from './parts.ts'
import type { View } from './view.ts'

/** The pause that ends a type-ahead search, in milliseconds. */
const TYPE_AHEAD_MS = 700

/** All banks with a search field. The input is only compared with names. */
export function bankList(view: View, banks: readonly Bank[]): HTMLElement {
  const { texts, found } = view.l10n
  const list = el('ul', { id: 'banks', role: 'listbox', 'aria-label': texts.allBanks, class: 'list' })
  const count = el('p', { role: 'status', class: 'count' })
  const none = paragraph(texts.noneFound)
  const rows = banks.map((bank) => ({ bank, name: normalized(bank.name), option: option(view, bank) }))
  let shown = rows
  const input = el('input', { id: 'search', type: 'search', autocomplete: 'off', 'aria-controls': 'banks' })
  const filter = (): void => {
    const query = normalized(input.value)
    shown = rows.filter(({ name }) => name.includes(query))
    list.replaceChildren(...shown.map(({ option }) => option))
    list.hidden = shown.length === 0
    none.hidden = shown.length > 0
    count.textContent = query === '' ? '' : found(shown.length)
    shown.forEach(({ option }, index) => (option.tabIndex = index === 0 ? 0 : -1))
  }
  input.addEventListener('input', filter)
  input.addEventListener('keydown', (event) => {
    const [first] = shown
    if (event.key === 'ArrowDown') moveTo(event, first?.option)
    if (event.key === 'Enter' && shown.length === 1) first?.option.click()
  })
  list.addEventListener(
    'keydown',
    listKeys(() => shown),
  )
  filter()
  const title = el('h2', {}, el('label', { for: 'search' }, texts.search))
  return el('div', { class: 'search' }, title, input, count, list, none)
}

function option(view: View, bank: Bank): HTMLElement {
  const made = el(
    'li',
    {
      role: 'option',
      tabindex: -1,
      'aria-selected': 'false',
      'aria-disabled': bank.available ? undefined : 'true',
      onclick: () => bank.available && view.send({ type: 'CHOOSE', bank }),
      onfocus: () => made.setAttribute('aria-selected', 'true'),
      onblur: () => made.setAttribute('aria-selected', 'false'),
    },
    bankMark(bank),
    bankName(view, bank),
  )
  return made
}

type Row = { name: string; option: HTMLElement }

/** Arrow keys, Home, End, type-ahead, and Enter or space to choose (ARIA listbox pattern). */
function listKeys(rowsNow: () => readonly Row[]): (event: KeyboardEvent) => void {
  let typedPrefix = ''
  let typedAt = 0
  return (event) => {
    const rows = rowsNow()
    const here = rows.findIndex(({ option }) => option === event.target)
    if (here === -1 || event.ctrlKey || event.metaKey || event.altKey) return
    const target = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (target !== undefined) return moveTo(event, rows[Math.min(Math.max(target, 0), rows.length - 1)]?.option)
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      rows[here]?.option.click()
    } else if (event.key.length === 1) {
      typedPrefix = event.timeStamp - typedAt > TYPE_AHEAD_MS ? '' : typedPrefix
      typedPrefix += normalized(event.key)
      typedAt = event.timeStamp
      moveTo(event, rows.find(({ name }) => name.startsWith(typedPrefix))?.option)
    }
  }
}

/** Only the focused option is in the tab order. */
function moveTo(event: Event, option: HTMLElement | undefined): void {
  event.preventDefault()
  if (option === undefined) return
  for (const other of option.parentElement?.children ?? []) (other as HTMLElement).tabIndex = -1
  option.tabIndex = 0
  option.focus()
}

/** Ignores case and accents: `ŵy` matches `WY`. */
function normalized(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim()
}
