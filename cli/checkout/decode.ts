import { isSignedWith, readCheckoutText, splitCheckoutToken } from '../../src/lib/checkout-token.ts'
import type { SplitToken } from '../../src/lib/checkout-token.ts'
import { CHECKOUT_TOKEN_LENGTH_MAX } from '../../src/wire/checkout.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { joinedFields, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { membersOf, textOr } from '../client/error-hints.ts'
import { shortTime } from '../base/text.ts'
import { distanceOf } from '../base/times.ts'
import { secretToVerify } from './secret.ts'
import { contentProblems, endOf } from './make-token.ts'
import type { Description } from './make-token.ts'

/** What a token's signature is: `unknown` where there is one and no secret to hold it against. */
type Signature = 'none' | 'valid' | 'wrong' | 'unknown'

type Decoded = {
  content: unknown
  signature: Signature
  expires_at: string | null
  expired: boolean
  problems: string[]
}

type DecodeOptions = Description & { decode: string }

/** `svc checkout token --decode`: all that can be read of a token. Exit code 3 says that it is not good. */
export async function decode(context: Context, options: DecodeOptions): Promise<CommandResult> {
  refuseDescription(options)
  const text = await readToken(context, options)
  const decoded = await inspect(context, text, options.secretFile)
  context.print.record(decoded, linesOf(decoded), { id: decoded.problems.length === 0 ? 'good' : 'bad' })
  return decoded.problems.length === 0 ? undefined : EXIT.assertion
}

/** @throws {CliError} where flags that describe a new token are given with one that exists */
function refuseDescription(options: Description): void {
  const described = options.amount ?? options.currency ?? options.returnUrl ?? options.callbackOrigin
  if (described !== undefined || options.sign || options.unsigned)
    throw usageError(
      '--decode is about a token that exists, and the other flags about a new one',
      'svc checkout token --decode - < token.txt',
    )
}

async function readToken({ io }: Context, { decode: given, secretFile }: DecodeOptions): Promise<string> {
  if (given !== '-') return given.trim()
  if (secretFile === '-') throw usageError('standard input is one of the two: the token, or the secret')
  if (io.stdin.isTTY) io.stderr.write('Reading the token from standard input; end it with Ctrl+D.\n')
  return (await io.stdin.read(CHECKOUT_TOKEN_LENGTH_MAX * 4)).toString('utf8').trim()
}

async function inspect(context: Context, token: string, secretFile: string | undefined): Promise<Decoded> {
  const split = splitCheckoutToken(token)
  const content = split === undefined ? undefined : readCheckoutText(split.text)
  if (split === undefined || content === undefined)
    return { content: null, signature: 'none', expires_at: null, expired: false, problems: [NO_TOKEN] }
  const fields = contentProblems(content)
  const clientId = textOr(membersOf(content)['merchantClientId'], '') || undefined
  const secret = split.signature === undefined ? undefined : await secretToVerify(context, { secretFile, clientId })
  const signature = signatureOf(split, secret)
  const exp = membersOf(content)['exp']
  const end = typeof exp === 'number' && Number.isSafeInteger(exp) && exp > 0 && exp < END_MAX ? endOf({ exp }) : null
  const expired = end !== null && Date.parse(end) <= Date.now()
  const problems = [
    ...(fields.length === 0 ? [] : [joinedFields(fields)]),
    ...(expired ? ['it has expired'] : []),
    ...(signature === 'wrong' ? ['the signature is not the one of this text under this secret'] : []),
    ...(token.length > CHECKOUT_TOKEN_LENGTH_MAX ? [`it is longer than ${CHECKOUT_TOKEN_LENGTH_MAX} characters`] : []),
  ]
  return { content, signature, expires_at: end, expired, problems }
}

// The last moment that a Date can have.
const END_MAX = 8_640_000_000_000
const NO_TOKEN = 'it is not JSON in base64, with or without a dot and a signature after it'

function signatureOf(split: SplitToken, secret: string | undefined): Signature {
  if (split.signature === undefined) return 'none'
  if (secret === undefined) return 'unknown'
  return isSignedWith(split, [secret]) ? 'valid' : 'wrong'
}

const SIGNATURE_TEXTS: Readonly<Record<Signature, string>> = {
  none: 'none: the sandbox takes it, live mode does not',
  valid: 'valid under the secret that is known here',
  wrong: 'wrong under the secret that is known here',
  unknown: 'there; no secret is known here to hold it against',
}

function linesOf({ content, signature, expires_at: end, problems }: Decoded): [string, string][] {
  const fields = Object.entries(membersOf(content)).map(([name, value]): [string, string] => [
    name,
    name === 'exp' && end !== null
      ? `${String(value)} (${shortTime(end)}, ${distanceOf(end)})`
      : typeof value === 'string'
        ? value
        : JSON.stringify(value),
  ])
  return [
    ...fields,
    ['Signature', content === null ? '' : SIGNATURE_TEXTS[signature]],
    ['Good', problems.length === 0 ? 'as far as can be checked without the service' : ''],
    ...problems.map((problem): [string, string] => ['Problem', problem]),
  ]
}
