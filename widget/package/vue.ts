import { defineComponent, getCurrentInstance, h, ref, watch } from 'vue'
import type { PropType } from 'vue'
import { HEIGHT_PX, LINK_TEXT, checkoutPageUrl, optionsOf, reportError, showCheckout } from './show-checkout.ts'
import { makeTokenWatch } from './misuse.ts'
import type { CheckoutProps, EventName, PayloadOf } from './show-checkout.ts'
import type { CheckoutAppearance } from './types.ts'

export type SvcCheckoutProps = CheckoutProps

/** The type of an event's payload, for Vue: it takes a function as its description. */
function payload<Name extends EventName>(_name: Name): (payload: PayloadOf<Name>) => boolean {
  return () => true
}

const EMITS = {
  ready: payload('ready'),
  bankSelected: payload('bankSelected'),
  success: payload('success'),
  failed: payload('failed'),
  cancelled: payload('cancelled'),
  return: payload('return'),
  resize: payload('resize'),
  /** The checkout's script did not load. Without a listener the console says why. */
  error: (_error: Error): boolean => true,
}

/**
 * The checkout of an order. Another token begins another checkout; other options count from the next token, so that a change
 * leaves the payer where they are. Until the checkout is there, and without scripts, a link leads to the service's own page.
 */
export const SvcCheckout = defineComponent(
  (props: SvcCheckoutProps, { emit }) => {
    const container = ref<HTMLElement | null>(null)
    const instance = getCurrentInstance()
    const tokenWatch = makeTokenWatch()
    const onError = (error: Error): void => {
      if (instance?.vnode.props?.['onError'] === undefined) reportError(error)
      emit('error', error)
    }
    watch(
      [container, () => props.origin, () => props.token],
      (_now, _before, onCleanup) => {
        const { origin, token } = props
        if (!token || container.value === null) return
        const onEvent = emit as (name: EventName, payload: unknown) => void
        const shared = { onEvent, onError, watch: tokenWatch }
        onCleanup(showCheckout(container.value, { ...optionsOf(props), origin, token, ...shared }))
      },
      { immediate: true, flush: 'post' },
    )
    // The script takes the link out of the element, so a token has an element of its own: Vue never looks for the link.
    return () => {
      const { origin, token, linkText = LINK_TEXT } = props
      const link = token ? [h('a', { href: checkoutPageUrl(origin, token) }, linkText)] : []
      return h('div', { key: token ?? '', ref: container, style: { minHeight: `${HEIGHT_PX}px` } }, link)
    }
  },
  {
    name: 'SvcCheckout',
    props: {
      origin: { type: String, required: true },
      token: String,
      locale: String,
      theme: String,
      noRedirect: Boolean,
      sameTab: Boolean,
      appearance: Object as PropType<CheckoutAppearance>,
      linkText: String,
    },
    emits: EMITS,
  },
)
