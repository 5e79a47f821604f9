import { z } from 'zod'
import type { CommandResult, Context, InputOf } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { DescribeOptions, makeToken } from './make-token.ts'

export const SnippetOptions = DescribeOptions.extend({ lang: z.enum(['html', 'react']) })

export async function snippet(context: Context, { options }: InputOf<typeof SnippetOptions>): Promise<CommandResult> {
  const { lang } = options
  if (options.returnUrl === undefined && options.callbackOrigin === undefined)
    throw usageError(
      'on whose pages will it be? --return-url or --callback-origin is missing',
      '--return-url https://shop.example/thanks',
    )
  const client = context.client()
  const { token, content } = await makeToken(context, client, options)
  const { origin } = new URL(client.apiUrl)
  const code = (lang === 'html' ? htmlOf : reactOf)({ token, origin, page: content.callbackOrigin })
  const { print, io } = context
  if (print.isMachine) print.record({ item: { lang, snippet: code, token, csp: cspOf(origin) }, id: code, lines: [] })
  else io.stdout.write(`${code}\n`)
}

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

/** A token is base64, a dot and hex: nothing in it means anything in HTML or in a string. */
function htmlOf({ token, origin, page }: Parts): string {
  return `<!-- The page's Content-Security-Policy, if it has one, needs:
       script-src ${origin}; frame-src ${origin}
     The token is of one order, and of pages of ${page}: your server makes a new one for each. -->
<div id="${CONTAINER}"></div>
<script
  async
  src="${origin}/v1/checkout.js"
  data-container-id="${CONTAINER}"
  data-checkout-token="${token}"
></script>`
}

function reactOf({ token, origin, page }: Parts): string {
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

export function Checkout({ token, onError }) {
  const container = useRef(null)
  useEffect(() => {
    let mounted
    let isGone = false
    loadCheckout().then((checkout) => {
      if (!isGone) mounted = checkout.mount(container.current, { token })
    }).catch((error) => onError?.(error))
    return () => {
      isGone = true
      mounted?.destroy()
    }
  }, [token, onError])
  return <div ref={container} />
}

// The token is of one order, and of pages of ${page}: your server makes a new one for each.
// <Checkout token="${token}" />`
}
