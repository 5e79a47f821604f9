import { el } from '../dom.ts'
import type { Draft, Hub } from './hub-context.ts'

/** Maximum length of a statement (src/wire/disputes.ts, Words). */
const STATEMENT_MAX = 5_000
/** The counter is announced only below this number of remaining characters. */
const NEAR_END = 200
const PAUSE_MS = 1_000

/** The payer's statement with a counter. It accepts too much text rather than truncate pasted text. */
export function statementField(hub: Hub, draft: Draft): { element: HTMLElement; check(): boolean } {
  const { dispute: texts } = hub.texts
  const area = el('textarea', { id: 'statement', rows: 6, 'aria-describedby': 'statement-hint statement-count' })
  area.value = draft.statement
  const counter = el('p', { id: 'statement-count', class: 'hint' })
  let pause: ReturnType<typeof setTimeout> | undefined
  const count = (): number => {
    const left = STATEMENT_MAX - area.value.trim().length
    counter.textContent = left < 0 ? texts.over(hub.format.count(-left)) : texts.left(hub.format.count(left))
    counter.classList.toggle('error', left < 0)
    area.setAttribute('aria-invalid', String(left < 0))
    return left
  }
  area.addEventListener('input', () => {
    draft.statement = area.value
    const left = count()
    clearTimeout(pause)
    if (left < NEAR_END) pause = setTimeout(() => hub.announce(counter.textContent ?? ''), PAUSE_MS)
  })
  count()
  const check = (): boolean => {
    if (count() >= 0) return true
    hub.announce(counter.textContent ?? '')
    area.focus()
    return false
  }
  const element = el(
    'div',
    {},
    el('label', { for: 'statement' }, texts.statement),
    el('p', { id: 'statement-hint', class: 'hint' }, texts.statementHint),
    area,
    counter,
  )
  return { element, check }
}
