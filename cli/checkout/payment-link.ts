import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { getCheckout } from '../../src/wire/checkout.ts'
import { CliError, usageError, withHint } from '../base/errors.ts'
import { withCheckoutToken } from '../client/auth/credentials.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { DESCRIPTION, SECRETS, endOf, makeToken } from './make-token.ts'
import { command, grouped } from '../kit/command.ts'
import { printQr } from '../output/qr.ts'
import { qrPicture } from '../output/qr-file.ts'

const { amount, currency, remittanceReference, payerName, sign, unsigned, secretFile } = DESCRIPTION

const SECRET_NEEDED = 'the newest signing secret: --secret-file secret.txt, or SVC_WEBHOOK_SECRET in the environment'
const ADDRESS_NEEDED = 'the address where payers reach the service: --api-url https://pay.example'

/** A checkout token for the service's own page, with a long lifetime (decision 337). */
export const link = command({
  command: 'payments link',
  summary: 'Print a link that takes one payment',
  details: `The link needs no website: it opens the service's own page, and takes one payment of this amount until it expires.
It is a checkout token, made here and stored nowhere; the payment appears when the payer begins. The service is asked
first whether it takes it.

${SECRETS}`,
  examples: [
    'svc payments link --amount 50.00 --currency GBP --remittance-reference "INVOICE 42"',
    'svc payments link --amount 50.00 --currency GBP --expires-in 14d --qr',
    'svc payments link --amount 50.00 --currency GBP --jti invoice-42 --qr-file invoice-42.png',
  ],
  flags: {
    amount,
    currency,
    remittanceReference,
    payerName,
    ...grouped('The link:', {
      expiresIn: { value: 'duration', summary: 'Lifetime of the link', initial: '30d', member: 'exp' },
      jti: { value: 'text', summary: 'Order number: all links with it are paid once (random)' },
      qr: { summary: 'Show the link as a QR code' },
      qrFile: { value: 'path', summary: 'Write the QR code to this .png or .svg file' },
    }),
    ...grouped('The signature:', { sign, unsigned, secretFile }),
  },
  async run(context, input) {
    const { qr, qrFile } = input
    const { print, io } = context
    if (qr && print.isMachine)
      throw usageError('--qr is a picture for people, and the form that was asked for is one for programs')
    const format = formatOf(qrFile)
    const client = context.client()
    const { origin } = new URL(client.apiUrl)
    const { token, isSigned, content } = await makeToken(context, client, {
      ...input,
      returnUrl: `${origin}/payments/return`,
      callbackOrigin: origin,
      merchantName: undefined,
      debtorAccount: undefined,
    })
    await refuseDeadLink(client, token)
    const url = `${origin}/checkout?${new URLSearchParams({ token })}`
    if (qrFile !== undefined && format !== undefined)
      writePicture(resolve(io.cwd, qrFile), await qrPicture(url, format))
    const { amount: paid, currency: code, jti = null } = content
    if (print.isMachine)
      print.record(
        { url, amount: paid, currency: code, order: jti, signed: isSigned, expires_at: endOf(content) },
        [],
        { id: url },
      )
    else if (qr) await printQr(context, url)
    else io.stdout.write(`${url}\n`)
  },
})

/**
 * Opens the checkout once, as the page does for its payer: a link that can't be paid is never sent.
 * @throws {CliError} the service's own refusal
 */
async function refuseDeadLink(client: Client, token: string): Promise<void> {
  try {
    await call(withCheckoutToken(client, token), getCheckout, {})
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'CHECKOUT_TOKEN_INVALID') throw error
    const { fields } = error.options
    if (fields === undefined) throw withHint(error, SECRET_NEEDED)
    // What else is wrong are the values of the flags, which the message names.
    throw fields.some(({ path }) => path === 'apiUrl') ? withHint(error, ADDRESS_NEEDED) : error
  }
}

function formatOf(file: string | undefined): 'svg' | 'png' | undefined {
  if (file === undefined) return undefined
  const [, format] = /\.(svg|png)$/i.exec(file) ?? []
  if (format === undefined)
    throw usageError(`--qr-file: "${file}" is neither a .png nor a .svg file`, '--qr-file link.png')
  return format.toLowerCase() === 'svg' ? 'svg' : 'png'
}

function writePicture(file: string, picture: Buffer): void {
  try {
    writeFileSync(file, picture)
  } catch (cause) {
    throw new CliError('USAGE', `--qr-file: can't write ${file}`, { cause })
  }
}
