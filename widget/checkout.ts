import { codeOf, enterPhase } from './phase-effects.ts'
import type { EffectContext } from './phase-effects.ts'
import { preferredBank } from './bank-preference.ts'
import type { Appearance } from './appearance.ts'
import { applyBranding } from './branding.ts'
import { SCREENS, START, next } from './flow.ts'
import type { FlowEvent, Problem, State } from './flow.ts'
import { openCheckout } from './open-checkout.ts'
import type { ContactAnswer, View } from './screens/view.ts'
import { progressText } from './screens/processing.ts'
import type { Localization } from '../src/lib/localization.ts'
import type { Stage } from './stage.ts'

type RunCheckoutOptions = Omit<EffectContext, 'send' | 'now'> & {
  l10n: Localization
  stage: Stage
  isTouch: boolean
  isTablet: boolean
  /** Why the checkout can't be used on this page, if the service said so already. */
  problem: Problem | undefined
  /** The look of this page, which goes before the merchant's branding. The first screen does not wait for it. */
  appearance: Promise<Appearance | undefined>
}

/** The version of the widget's messages, for merchants' pages. */
const VERSION = '1.0.0'

/** What the service says of a contact; anything else says nothing about it. */
const ANSWERS: Readonly<Record<string, ContactAnswer>> = { CONTACT_ALREADY_KNOWN: 'known', VALIDATION_FAILED: 'wrong' }

/** Runs one checkout: an event changes the state, then the state is shown and its effects start. */
export function runCheckout({
  l10n,
  stage,
  isTouch,
  isTablet,
  problem,
  appearance,
  ...options
}: RunCheckoutOptions): void {
  let state: State = START
  let end: (() => void) | undefined
  const context: EffectContext = { ...options, send, now: () => state }

  function send(event: FlowEvent): void {
    const before = state
    state = next(before, event)
    if (state === before) return
    const isSame = state.phase === before.phase
    if (!isSame) {
      end?.()
      end = enterPhase(context, before, event)
    }
    if (before.phase === 'start' && state.checkout) announceOpened(state.checkout)
    stage.show(view(), isSame ? progressText(view()) : undefined)
    if (state.phase === 'start') void open()
  }

  function view(): View {
    const preferred = ['consent', 'banks'].includes(state.phase) ? preferredBank(state.banks ?? []) : undefined
    return { state, l10n, isTouch, isTablet, sameTab: options.sameTab, preferred, send, leaveContact }
  }

  async function open(): Promise<void> {
    send(problem ? { type: 'UNUSABLE', problem } : await openCheckout(options.api, options.connection))
  }

  function announceOpened({
    branding,
    merchant_name: merchantName,
    amount,
    currency,
    mode,
  }: NonNullable<State['checkout']>): void {
    if (mode === 'sandbox') void import('./misuse.ts').then(({ warnOfMisuse }) => warnOfMisuse(options.connection))
    void appearance.then((look) => applyBranding(branding, look))
    const screen = SCREENS[state.phase]
    options.connection.emit('SVC_WIDGET_READY', { version: VERSION, screen, merchantName, amount, currency })
  }

  /** Text that looks like a number is sent as a phone number; the service validates its form. */
  async function leaveContact(text: string): Promise<ContactAnswer> {
    if (!state.payment) return 'failed'
    try {
      await options.api.leaveContact(state.payment, /^[\d+()\s./-]+$/.test(text) ? { phone: text } : { email: text })
      return 'kept'
    } catch (error) {
      return ANSWERS[codeOf(error)] ?? 'failed'
    }
  }

  stage.show(view())
  void open()
}
