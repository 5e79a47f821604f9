import type { ToldField } from '../base/errors.ts'
import { wholeCommand } from '../kit/command-line.ts'
import type { DescribeOptions } from './make-token.ts'

export type MakingCommand = 'svc checkout token' | 'svc checkout snippet'

/** What was typed to make a token; what a command is told beside that is only of its own. */
export type Typed = DescribeOptions & { command: MakingCommand; check?: boolean; lang?: string }

/** The command that makes the token, as it was typed, with these values instead. */
export function commandFor(
  { command, expiresIn, lang, ...options }: Typed,
  changed: Readonly<Record<string, string | boolean | undefined>> = {},
): string {
  const { amount, currency, ...rest } = options
  const unusual = { expiresIn: expiresIn === '1h' ? undefined : expiresIn, lang: lang === 'html' ? undefined : lang }
  return wholeCommand(command, { amount: amount ?? '50.00', currency: currency ?? 'GBP', ...rest, ...unusual }, changed)
}

/** What a flag can be given, in the place of what was refused; undefined takes the flag away. */
const INSTEAD: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  amount: { amount: '50.00' },
  currency: { currency: 'GBP' },
  returnUrl: { returnUrl: 'https://shop.example/thanks' },
  callbackOrigin: { callbackOrigin: 'https://shop.example' },
  merchantName: { merchantName: undefined },
  payerName: { payerName: 'Ada Lovelace' },
  remittanceReference: { remittanceReference: 'order 1' },
  debtorAccountScheme: { debtorAccount: '00-00-75 12345678' },
  debtorIdentification: { debtorAccount: '00-00-75 12345678' },
  exp: { expiresIn: undefined },
  jti: { jti: 'order-1' },
}

/** The same command with values that can be, for all that was refused. */
export function commandMending(typed: Typed, fields: readonly ToldField[]): string {
  const changed = Object.assign({}, ...fields.map(({ path }) => INSTEAD[path] ?? {}))
  const command = commandFor(typed, changed)
  const api = fields.find(({ path }) => path === 'apiUrl')
  // The service says where it is, which may be another spelling of the address that it was asked at.
  const own = /must be (?<origin>https?:\/\/\S+)\/api\/v1\b/.exec(api?.message ?? '')?.groups?.['origin']
  return own === undefined ? command : `${command} --api-url ${own}`
}

/** To read a token that the service refuses without a word of which part. */
export function commandReading(typed: Typed): string {
  return `what it says: ${commandFor({ ...typed, check: false })} | svc checkout token --decode -`
}
