import { el } from '../dom.ts'
import type { Hub } from './hub-context.ts'
import { alertBox } from './parts.ts'
import type { Route } from './routes.ts'

const MINUTE_MS = 60_000
const WARNING_MS = 3 * MINUTE_MS
const UPDATE_MS = 1_000

/** The bar above every view of a session: navigation, remaining time and sign-out. */
export type AccountBar = {
  /** Shows the bar with the current page marked; hides it without a session. */
  show(route: Route | undefined): void
}

/** The page that each view belongs to. */
const PAGE: Partial<Record<Route['name'], 'payments' | 'permissions'>> = {
  payments: 'payments',
  payment: 'payments',
  dispute: 'payments',
  permissions: 'permissions',
  cancel: 'permissions',
}

/** Creates the bar. It checks the clock every second, because timers stop while a computer sleeps. */
export function makeAccountBar(hub: Hub, place: HTMLElement, signOut: () => void): AccountBar {
  const { texts } = hub
  const who = el('p', { class: 'soft' })
  const left = el('p', { class: 'soft' })
  const warning = el('div', { class: 'warning' })
  const links = (['payments', 'permissions'] as const).map((page) => el('a', { href: `#${page}` }, texts.nav[page]))
  const nav = el('nav', { 'aria-label': texts.nav.label }, ...links)
  const out = el('button', { type: 'button', class: 'plain small', onclick: signOut }, texts.session.signOut)
  const bar = [nav, el('div', { class: 'time' }, el('div', {}, who, left), out), warning]
  let shownWarning: string | undefined

  const update = (): void => {
    const session = hub.session.read()
    if (!left.isConnected) return
    if (session === undefined) return hub.signedOut('ended')
    setText(who, texts.session.as(session.contact))
    const ms = session.endsAtMs - Date.now()
    const minutes = Math.floor(ms / MINUTE_MS)
    setText(left, minutes === 0 ? texts.session.lastMinute : texts.session.left(Math.ceil(ms / MINUTE_MS)))
    warn(ms)
  }
  /** Warns twice: three minutes before the end, and in the last minute. */
  const warn = (ms: number): void => {
    const kind = ms > WARNING_MS ? undefined : ms > MINUTE_MS ? 'soon' : 'now'
    if (kind === shownWarning) return
    shownWarning = kind
    const text = kind === 'now' ? texts.session.warningLast : texts.session.warning(Math.ceil(ms / MINUTE_MS))
    const link = el('a', { href: '#new-link' }, texts.session.newLink)
    warning.replaceChildren(...(kind === undefined ? [] : [alertBox('note', el('p', {}, text), el('p', {}, link))]))
    if (kind !== undefined) hub.announce(text)
  }
  setInterval(update, UPDATE_MS)
  document.addEventListener('visibilitychange', update)

  return {
    show(route) {
      if (route === undefined) return place.replaceChildren()
      if (!left.isConnected) place.replaceChildren(...bar)
      for (const link of links) {
        if (link.hash === `#${PAGE[route.name] ?? ''}`) link.setAttribute('aria-current', 'page')
        else link.removeAttribute('aria-current')
      }
      update()
    },
  }
}

function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}
