import { join } from 'node:path'
import { packageRoot } from '../../src/lib/package-root.ts'
import { usageError } from '../base/errors.ts'
import { quoted } from '../base/command-hints.ts'
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
      lang: { value: 'language', summary: 'Kind of page', choices: ['html', 'react', 'vue'], initial: 'html' },
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
    const code = SNIPPETS[lang]({ token, origin, page: content.callbackOrigin })
    const install = lang === 'html' ? null : installOf(packageRoot())
    const { print, io } = context
    if (print.isMachine)
      return print.record({ lang, snippet: code, token, csp: cspOf(origin), install }, [], { id: code })
    io.stdout.write(`${code}\n`)
    if (install === null) return
    context.note(`\nInstall the package that comes with svc, not one by its name: ${install}`)
    context.note(`A token for a first try: ${token}`)
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

/** Packed and not linked: a linked package would use the React that is installed beside it. */
export const installOf = (root: string): string =>
  `npm install --install-links ${quoted(join(root, 'dist', 'checkout-package'))}`

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

/** Has no token: a sample order in a page whose server has not answered could be paid. */
export function reactOf({ origin, page }: Omit<Parts, 'token'>): string {
  return `// The page's Content-Security-Policy, if it has one, needs:
//   script-src ${origin}; frame-src ${origin}
// @svc/checkout comes with svc: install it from its folder, or the file that npm pack makes of it, not by its name.
import { SvcCheckout } from '@svc/checkout/react'

// The token is of one order, and of pages of ${page}: your server makes a new one for each.
export function Checkout({ token }) {
  return (
    <SvcCheckout
      origin="${origin}"
      token={token}
      onSuccess={({ endToEndId }) => console.log('paid', endToEndId)}
      onFailed={({ errorCode, message }) => console.warn(errorCode, message)}
    />
  )
}
// <Checkout token={token} />, with the token from your server: while it is null, the place is kept.`
}

export function vueOf({ origin, page }: Omit<Parts, 'token'>): string {
  return `<!-- The page's Content-Security-Policy, if it has one, needs:
       script-src ${origin}; frame-src ${origin}
     @svc/checkout comes with svc: install it from its folder, or the file that npm pack makes of it, not by its name.
     The token is of one order, and of pages of ${page}: your server makes a new one for each. -->
<script setup>
import { SvcCheckout } from '@svc/checkout/vue'

defineProps({ token: String })
const onSuccess = ({ endToEndId }) => console.log('paid', endToEndId)
const onFailed = ({ errorCode, message }) => console.warn(errorCode, message)
</script>

<template>
  <SvcCheckout origin="${origin}" :token="token" @success="onSuccess" @failed="onFailed" />
</template>
<!-- <Checkout :token="token" />, with the token from your server: while it is null, the place is kept. -->`
}

const SNIPPETS = { html: htmlOf, react: reactOf, vue: vueOf }
