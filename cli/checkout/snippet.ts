import { usageError } from '../base/errors.ts'
import { command, grouped } from '../kit/command.ts'
import { DESCRIPTION, SECRETS, makeToken } from './make-token.ts'

export const snippet = command({
  command: 'checkout snippet',
  summary: "Print the snippet for a merchant's page",
  details: `${SECRETS}

Each order has a token of its own, which your server makes: the one printed here is for a first try.`,
  examples: [
    'svc checkout snippet --amount 50.00 --currency GBP --return-url https://shop.example/thanks',
    'svc checkout snippet --amount 50.00 --currency GBP --callback-origin http://localhost:4000 --lang react',
    'svc checkout snippet --amount 50.00 --currency GBP --return-url https://shop.example/thanks --sign',
  ],
  flags: {
    ...DESCRIPTION,
    ...grouped('The token:', {
      lang: { value: 'language', summary: 'Kind of page', choices: ['html', 'react'], initial: 'html' },
    }),
  },
  async run(context, input) {
    const { lang } = input
    if (input.returnUrl === undefined && input.callbackOrigin === undefined)
      throw usageError(
        'on whose pages will it be? --return-url or --callback-origin is missing',
        '--return-url https://shop.example/thanks',
      )
    const client = context.client()
    const { token, content } = await makeToken(context, client, input)
    const { origin } = new URL(client.apiUrl)
    const code = (lang === 'html' ? htmlOf : reactOf)({ token, origin, page: content.callbackOrigin })
    const { print, io } = context
    if (print.isMachine) print.record({ lang, snippet: code, token, csp: cspOf(origin) }, [], { id: code })
    else io.stdout.write(`${code}\n`)
  },
})

type Parts = {
  token: string
  /** Of the service. */
  origin: string
  /** Of the page that may show it. */
  page: string
}

/** What the page's own Content-Security-Policy has to allow. */
function cspOf(origin: string): { 'script-src': string; 'frame-src': string } {
  return { 'script-src': origin, 'frame-src': origin }
}

const CONTAINER = 'svc-checkout'
/** The first screen's height, kept so that the page does not jump when it appears. */
const HEIGHT_PX = 560

/** A token is base64, a dot and hex: nothing in it means anything in HTML or in a string. */
function htmlOf({ token, origin, page }: Parts): string {
  return `<!-- The page's Content-Security-Policy, if it has one, needs:
       script-src ${origin}; frame-src ${origin}
     The token is of one order, and of pages of ${page}: your server makes a new one for each. -->
<div id="${CONTAINER}" style="min-height: ${HEIGHT_PX}px">
  <a href="${origin}/checkout?token=${encodeURIComponent(token)}">Pay by bank on our page</a>
</div>
<script
  async
  src="${origin}/v1/checkout.js"
  data-container-id="${CONTAINER}"
  data-checkout-token="${token}"
></script>`
}

export function reactOf({ token, origin, page }: Parts): string {
  return `// The page's Content-Security-Policy, if it has one, needs:
//   script-src ${origin}; frame-src ${origin}
import { useEffect, useRef } from 'react'

let loading

/** Loads the script once, however many checkouts there are; after a failure the next one tries again. */
function loadCheckout() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = '${origin}/v1/checkout.js'
    script.async = true
    script.onload = () => resolve(window.SvcCheckout)
    script.onerror = () => {
      loading = undefined
      script.remove()
      reject(new Error('The checkout could not be loaded.'))
    }
    document.head.append(script)
  })
  return loading
}

const EVENTS = ['SVC_WIDGET_READY', 'SVC_BANK_SELECTED', 'SVC_PAYMENT_SUCCESS', 'SVC_PAYMENT_FAILED', 'SVC_PAYMENT_CANCELLED', 'SVC_RETURN']

/** \`on\` has a function for each event that you want. New functions on every render leave the payer where they are. */
export function Checkout({ token, on, onError }) {
  const container = useRef(null)
  const latest = useRef({})
  useEffect(() => {
    latest.current = { on, onError }
  })
  useEffect(() => {
    let mounted
    let isGone = false
    loadCheckout().then((checkout) => {
      if (isGone) return
      mounted = checkout.mount(container.current, { token })
      for (const event of EVENTS) mounted.on(event, (payload) => latest.current.on?.[event]?.(payload))
    }).catch((error) => latest.current.onError?.(error))
    return () => {
      isGone = true
      mounted?.destroy()
    }
  }, [token])
  return <div ref={container} style={{ minHeight: ${HEIGHT_PX} }} />
}

// The token is of one order, and of pages of ${page}: your server makes a new one for each.
// <Checkout token="${token}" on={{ SVC_PAYMENT_SUCCESS: ({ endToEndId }) => showThanks(endToEndId) }} />`
}
