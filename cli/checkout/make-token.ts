import { randomBytes } from 'node:crypto'
import { z } from 'zod'
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

const text = z.string().optional()

/** What every command takes that makes a token. */
export const DescribeOptions = z.object({
  amount: text,
  currency: text,
  returnUrl: text,
  callbackOrigin: text,
  merchantName: text,
  payerName: text,
  remittanceReference: text,
  debtorAccount: text,
  expiresIn: z.string(),
  jti: text,
  sign: z.boolean().default(false),
  unsigned: z.boolean().default(false),
  secretFile: text,
})
export type DescribeOptions = z.infer<typeof DescribeOptions>

export type MadeToken = { token: string; isSigned: boolean; content: CheckoutToken }

const PAGE = '--return-url https://shop.example/thanks'

/**
 * Makes a checkout token as a merchant's server does: signed wherever a secret is known. In the sandbox it may go without,
 * which is said; a live service would refuse it.
 * @throws {CliError} exit code 2 for values that no token can have, and where a signature is needed and can't be made
 */
export async function makeToken(context: Context, client: Client, options: DescribeOptions): Promise<MadeToken> {
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
    apiUrl: client.apiUrl,
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

/** As the service would call the merchant, and the client id of its server where that is known. */
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

/** @throws {CliError} VALIDATION_FAILED, exit code 2, with everything that is wrong */
function checked(content: object): CheckoutToken {
  const fields = contentProblems(content)
  if (fields.length > 0) throw new CliError('VALIDATION_FAILED', joinedFields(fields), { exit: EXIT.usage, fields })
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

/** When a token ends, as timestamps are told; null where it does not say. */
export function endOf({ exp }: Pick<CheckoutToken, 'exp'>): string | null {
  return exp === undefined ? null : new Date(exp * 1_000).toISOString()
}
