import { grouped } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import { randomBytes } from 'node:crypto'
import { IBAN, SORT_CODE_ACCOUNT_NUMBER, normalIdentification } from '../../src/lib/account-identification.ts'
import { encodeCheckoutToken, signCheckoutToken } from '../../src/lib/checkout-token.ts'
import type { FieldError } from '../../src/lib/errors.ts'
import { parsePart } from '../../src/lib/field-errors.ts'
import { CheckoutToken } from '../../src/wire/checkout.ts'
import { whoami } from '../../src/wire/service.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { durationOf } from '../kit/context.ts'
import type { Context } from '../kit/context.ts'
import { CliError, joinedFields, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { isLive } from '../client/auth/service-info.ts'
import { stateOfMerchant } from '../client/service-state.ts'
import { secretToSign } from './secret.ts'

export const DESCRIPTION = {
  ...grouped('The payment:', {
    amount: { value: 'amount', summary: 'Decimal amount, such as 50.00' },
    currency: { value: 'code', summary: 'Currency code, such as GBP' },
    remittanceReference: { value: 'text', summary: "Reference on the payer's statement, at most 18 characters" },
    payerName: { value: 'name', summary: 'Name of the payer, at most 140 characters' },
    debtorAccount: {
      value: 'number',
      summary: "The payer's account: sort code and account number, or IBAN",
      member: 'debtorIdentification',
    },
  }),
  ...grouped('The page:', {
    returnUrl: { value: 'url', summary: 'Where the payer goes afterwards (in the sandbox a page of the service)' },
    callbackOrigin: { value: 'origin', summary: 'Origin of the pages that show the checkout (that of --return-url)' },
    merchantName: { value: 'name', summary: 'Merchant name in the token; payers see your trading name' },
  }),
  ...grouped('The token:', {
    expiresIn: { value: 'duration', summary: 'Lifetime of the token', initial: '1h', member: 'exp' },
    jti: { value: 'text', summary: 'Unique token id (random)' },
    sign: { summary: 'Sign the token, or fail', excludes: ['unsigned'] },
    unsigned: { summary: 'Do not sign; sandbox only' },
    secretFile: { value: 'path', summary: 'File with the signing secret; - is standard input (SVC_WEBHOOK_SECRET)' },
  }),
} as const
export type Description = Input<typeof DESCRIPTION>

export const SECRETS = `The webhook signing secret is not taken from the command line: it comes from --secret-file, SVC_WEBHOOK_SECRET, or the
svc.json of the state directory. A live service takes no token without a signature.`

export type MadeToken = { token: string; isSigned: boolean; content: CheckoutToken }

const PAGE = '--return-url https://shop.example/thanks'

/**
 * Makes a checkout token as a merchant's server does: signed wherever a secret is known. In the sandbox it may go without,
 * which is said; a live service would refuse it.
 * @throws {CliError} exit code 2 for values that no token can have, and where a signature is needed and can't be made
 */
export async function makeToken(context: Context, client: Client, options: Description): Promise<MadeToken> {
  const { amount, currency } = options
  if (amount === undefined || currency === undefined)
    throw usageError('a token says how much is paid: --amount and --currency', '--amount 50.00 --currency GBP')
  const expiresMs = durationOf(options.expiresIn, '--expires-in')
  const live = await isLive(client)
  const secret = await secretToSign(context, client, { ...options, live })
  const returnUrl = options.returnUrl ?? (live ? undefined : `${client.apiUrl}/dev/merchant-success`)
  if (returnUrl === undefined) throw usageError('where does the payer go afterwards? --return-url is missing', PAGE)
  const content = checked({
    amount,
    currency: currency.toUpperCase(),
    ...(await merchantOf(context, client, options.merchantName)),
    apiUrl: `${client.apiUrl}/api/v1`,
    returnUrl,
    callbackOrigin: originOf(
      options.callbackOrigin ?? returnUrl,
      options.callbackOrigin === undefined ? '--return-url' : '--callback-origin',
    ),
    ...(options.payerName === undefined ? {} : { payerName: options.payerName }),
    ...(options.remittanceReference === undefined ? {} : { remittanceReference: options.remittanceReference }),
    ...accountOf(options.debtorAccount),
    exp: Math.floor((Date.now() + expiresMs) / 1_000),
    jti: options.jti ?? randomBytes(12).toString('base64url'),
  })
  const unsigned = encodeCheckoutToken(content)
  if (secret === undefined) return { token: unsigned, isSigned: false, content }
  return { token: signCheckoutToken(unsigned, secret), isSigned: true, content }
}

async function merchantOf(
  { stateDir }: Context,
  client: Client,
  name: string | undefined,
): Promise<{ merchantName: string; merchantClientId: string }> {
  const { credentials, apiUrl } = client
  const state = stateOfMerchant(stateDir, { apiUrl, merchant: credentials.merchant })
  const known = state?.merchant.client_id ?? credentials.merchant?.clientId
  if (name !== undefined && known !== undefined) return { merchantName: name, merchantClientId: known }
  const { body } = await call(client, whoami, {})
  const clientId = known ?? body.client_id
  if (body.merchant === null || clientId === null)
    throw new CliError('WRONG_REALM', 'a token is made for a merchant, and you act for none', {
      exit: EXIT.forbidden,
      hint: 'svc login --realm <realm>, or --client-id <id>',
    })
  return { merchantName: name ?? body.merchant.trading_name, merchantClientId: clientId }
}

/** What is wrong with the form of what a token says; its rules the service knows. */
export function contentProblems(content: unknown): FieldError[] {
  const fields: FieldError[] = []
  parsePart(CheckoutToken, content, fields)
  return fields
}

function checked(content: object): CheckoutToken {
  const fields = contentProblems(content)
  if (fields.length > 0) throw new CliError('VALIDATION_FAILED', joinedFields(fields), { fields })
  return CheckoutToken.parse(content)
}

function originOf(url: string, flag: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin
  throw usageError(`${flag}: "${url}" is not the address of a page`, PAGE)
}

function accountOf(account: string | undefined): object {
  if (account === undefined) return {}
  for (const scheme of [SORT_CODE_ACCOUNT_NUMBER, IBAN] as const) {
    const number = normalIdentification(scheme, account.replace('+', ''))
    if (number !== undefined) return { debtorAccountScheme: scheme, debtorIdentification: number }
  }
  throw usageError(
    '--debtor-account: neither a sort code with an account number nor an IBAN',
    "--debtor-account '00-00-75 12345678'",
  )
}

/** When a token ends, as a timestamp; null where it names no end. */
export function endOf({ exp }: Pick<CheckoutToken, 'exp'>): string | null {
  return exp === undefined ? null : new Date(exp * 1_000).toISOString()
}
