import { makeApi } from './api.ts'
import type { Appearance } from './appearance.ts'
import { runCheckout } from './checkout.ts'
import { connect } from './connection.ts'
import type { Connection } from './connection.ts'
import { el } from './dom.ts'
import { ENGLISH, chooseLocale } from './locales/choose.ts'
import type { Timers } from './poll.ts'
import type { Problem } from './flow.ts'
import { developerDetails } from './screens/parts.ts'
import { makeStage } from './stage.ts'
import { contrastRatio } from '../src/lib/contrast.ts'
import { makeLocalization } from '../src/lib/localization.ts'

const TIMERS: Timers = { every: (run, ms) => setInterval(run, ms), stop: (timer) => clearInterval(timer) }

/** A coarse pointer means a phone or tablet; so does a small screen with any pointer, such as a pen. */
const TOUCH = '(pointer: coarse), (hover: none), (max-device-width: 40rem), (max-device-height: 26rem)'
/** The shorter side of the smallest tablets, in CSS pixels. */
const TABLET_PX_MIN = 600

/** Browsers inside other apps, which open no new tab. */
const IN_APP = /; wv\)|iP(hone|ad)(?!.*Safari)/

async function start(root: HTMLElement): Promise<void> {
  const connection = await connect()
  document.documentElement.dataset['theme'] = connection.theme
  const appearance = appearanceOf(connection)
  const locale = await chooseLocale([connection.locale, ...navigator.languages])
  document.documentElement.lang = locale.tag
  document.documentElement.dir = locale.dir
  runCheckout({
    api: makeApi(connection.token),
    connection,
    timers: TIMERS,
    l10n: makeLocalization(locale),
    stage: makeStage(root),
    problem: problemOf(root),
    appearance,
    isTouch: matchMedia(TOUCH).matches,
    sameTab: connection.sameTab || IN_APP.test(navigator.userAgent),
    isTablet: Math.min(screen.width, screen.height) >= TABLET_PX_MIN,
  })
}

/**
 * Loaded where the shop asks for a look of its own. Without it, or where it can't be loaded or read, the merchant's branding
 * stays: a style must not cost the payment (decision 396).
 */
async function appearanceOf({ appearance }: Connection): Promise<Appearance | undefined> {
  if (!appearance) return undefined
  const isDark = getComputedStyle(document.documentElement).colorScheme === 'dark'
  return import('./appearance.ts')
    .then(({ readAppearance }) => readAppearance(appearance, { isDark, contrastRatio }))
    .catch((error: unknown) => void console.warn(error))
}

/** What the service says about the page around this one, in place of a checkout. */
function problemOf({ dataset: { code, message = '' } }: HTMLElement): Problem | undefined {
  return code === undefined ? undefined : { code, message, again: false }
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
