import { makeApi } from './api.ts'
import { runCheckout } from './checkout.ts'
import { connect } from './connection.ts'
import type { Connection } from './connection.ts'
import { el } from './dom.ts'
import { ENGLISH, chooseLocale } from './locales/choose.ts'
import type { Timers } from './poll.ts'
import { developerDetails } from './screens/parts.ts'
import { makeStage } from './stage.ts'
import { makeLocalization } from './localization.ts'

const TIMERS: Timers = { every: (run, ms) => setInterval(run, ms), stop: (timer) => clearInterval(timer) }

/** A coarse pointer means a phone or tablet, which has the bank's app; so does a small screen with any pointer. */
const PHONE = '(pointer: coarse), (max-device-width: 40rem)'

async function start(root: HTMLElement): Promise<void> {
  const connection = await connect()
  document.documentElement.dataset['theme'] = connection.theme
  const locale = await chooseLocale([connection.locale, ...navigator.languages])
  document.documentElement.lang = locale.tag
  document.documentElement.dir = locale.dir
  runCheckout({
    api: makeApi(connection.token),
    connection: withoutRepeatedGuards(connection),
    timers: TIMERS,
    l10n: makeLocalization(locale),
    stage: makeStage(root),
    isPhone: matchMedia(PHONE).matches,
  })
}

/** Sends the guard to the parent page only when it changes. */
function withoutRepeatedGuards(connection: Connection): Connection {
  let isOn = false
  const guard = (on: boolean): void => {
    if (on !== isOn) connection.guard(on)
    isOn = on
  }
  return { ...connection, guard }
}

const root = document.querySelector('main') ?? document.body
start(root).catch((error: unknown) => {
  const message = error instanceof Error ? error.message : ''
  const { texts } = ENGLISH
  root.replaceChildren(
    el('h1', {}, texts.unusableTitle),
    el('p', { role: 'alert' }, texts.unusableText),
    developerDetails(texts, message),
  )
})
