import { pino } from 'pino'
import type { Logger } from 'pino'
import { isUuid } from '../lib/ids.ts'
import { traceNames } from '../lib/trace.ts'

export type { Logger } from 'pino'

/** Names of members whose values are never logged, at any depth of a logged object, in any case. */
const SECRET_NAMES = [
  'authorization',
  'cookie',
  'set-cookie',
  'code',
  'state',
  'token',
  'session_token',
  'sessionToken',
  'checkout_token',
  'checkoutToken',
  'payment_state',
  'paymentState',
  'secret',
  'password',
  'webhook_signing_secret',
  'webhookSigningSecret',
  'webhook_secret',
  'webhookSecret',
  'encryptionKey',
  'encryptionKeysPrevious',
  'masterKey',
  'databaseUrl',
  'migrationDatabaseUrl',
  'redirect_url',
  'redirectUrl',
  'redirect_uri',
  'redirectUri',
  'return_url',
  'returnUrl',
  'debtor_identification',
  'account_number',
  'accountNumber',
  'sort_code',
  'sortCode',
  'iban',
  'payer_email',
  'payer_phone',
  'contact_normalised',
  'bank_consent_id',
  'SVC_ENCRYPTION_KEY',
  'SVC_ENCRYPTION_KEY_PREVIOUS',
  'SVC_DATABASE_URL',
  'SVC_MIGRATION_DATABASE_URL',
  'x-payment-state',
  'x-checkout-token',
  'x-service-signature',
  'x-service-signature-previous',
  'x-mock-bank-signature',
  'webhook-signature',
]

/** Matches such a member in a line of JSON, with its string, number, or flat list or object. */
const SECRET_MEMBERS = new RegExp(
  String.raw`("(?:${SECRET_NAMES.join('|')})":)(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|\{[^{}]*\}|\[[^[\]]*\])`,
  'gi',
)

/**
 * None of these matches past the end of a JSON string, so the result is still a line of JSON. A third element is in every
 * match, and a text without it is not searched.
 * @param begins the pattern of where a secret begins, from that of what is not part of one
 */
function secretValues(begins: (boundary: string) => string): readonly [RegExp, string, string?][] {
  const word = begins(String.raw`\b`)
  return [
    [new RegExp(String.raw`${word}[0-9a-f]{64}\b`, 'gi'), '[redacted]'],
    [new RegExp(String.raw`${word}(Bearer|Basic)\s+[A-Za-z0-9._~+/-]+=*`, 'gi'), '$1 [redacted]'],
    [new RegExp(String.raw`${word}(postgres(?:ql)?://[^:/@\s"\\]*:)[^@/\s"\\]+@`, 'gi'), '$1[redacted]@', '://'],
    [/([?&#](?:code|state|request|token)=)[^&\s"\\]+/gi, '$1[redacted]', '='],
    // A JWT: tokens and assertions of banks; a private key as PEM, also within a JSON string.
    [new RegExp(String.raw`${word}eyJ[\w-]+\.[\w-]*\.[\w-]*`, 'g'), '[redacted]', 'eyJ'],
    [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-"]+-----END [A-Z ]*PRIVATE KEY-----/g, '[redacted]', 'PRIVATE KEY'],
    // 32 bytes as base64: the master key.
    [new RegExp(String.raw`${begins('(?<![A-Za-z0-9+/])')}[A-Za-z0-9+/]{43}=`, 'g'), '[redacted]', '='],
    // An IBAN; a sort code with its account number.
    [new RegExp(String.raw`${word}[A-Z]{2}\d{2}[A-Z0-9]{11,30}\b`, 'g'), '[redacted]'],
    [new RegExp(String.raw`(?<!":|[[,])${word}\d{14}\b`, 'g'), '[redacted]'],
  ]
}

const SECRET_VALUES = secretValues((boundary) => boundary)

/**
 * Among escapes of JSON a secret may begin behind the letter of one, such as the n of a newline, and never with it: a
 * backslash without its letter is not JSON. Texts without escapes are searched faster without this.
 */
const SECRET_VALUES_AMONG_ESCAPES = secretValues(
  (boundary) => String.raw`(?:${boundary}(?<!(?<!\\)(?:\\\\)*\\)|(?<=\\(?:[bfnrt]|u[0-9a-f]{4})))`,
)

/** Redacts secrets in free text: 64 hex characters, tokens, database passwords, codes and states in URLs, account numbers. */
export function redactText(text: string): string {
  const values = text.includes('\\') ? SECRET_VALUES_AMONG_ESCAPES : SECRET_VALUES
  return values.reduce(
    (clean, [pattern, replacement, part = '']) => (clean.includes(part) ? clean.replace(pattern, replacement) : clean),
    text,
  )
}

/**
 * Logs JSON lines to standard error, or to `destination`; standard output is for results. Secrets are redacted twice: by
 * the names of members, and by the form of values.
 */
export function makeLog(level: string, destination: NodeJS.WritableStream = process.stderr): Logger {
  const log = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
      mixin: traceNames,
      mixinMergeStrategy: withTrace,
    },
    { write: (line: string) => destination.write(redactText(line.replace(SECRET_MEMBERS, '$1"[redacted]"'))) },
  )
  plainLogs.set(log, makePlainLog(destination))
  return log
}

type PlainMembers = Readonly<Record<string, string | number | boolean | null | undefined>>
type PlainLog = (members: PlainMembers, message: string) => void

/** By the log of the same destination. Its children, whose lines have more members, have none. */
const plainLogs = new WeakMap<Logger, PlainLog>()

/**
 * The same line as that of `log.info`, for the one that each request has: most of a line's time goes into the search for
 * secrets, and nearly every text in this one was searched before.
 */
export function logPlain(log: Logger, members: PlainMembers, message: string): void {
  const write = 'trace_id' in traceNames() ? undefined : plainLogs.get(log)
  if (write === undefined) log.info(members, message)
  else if (log.isLevelEnabled('info')) write(members, message)
}

const SECRET_NAME = new RegExp(`^(?:${SECRET_NAMES.join('|')})$`, 'i')

/** A sort code and an account number. */
const ACCOUNT_DIGITS = 14

/** How many texts are known to be clean, or how they are redacted; then all are forgotten. */
const TEXTS_MAX = 1_000

function makePlainLog(destination: NodeJS.WritableStream): PlainLog {
  const names = new Map<string, { start: string; isSecret: boolean }>()
  const texts = new Map<string, string>()
  const head = { at: Number.NaN, text: '' }

  /** Each text alone, because no secret reaches past the string that it is in. */
  function valueText(value: string | number | boolean | null): string {
    if (typeof value !== 'string') {
      const text = JSON.stringify(value)
      // Of digits alone, only those after a point would be taken for an account number: what is before them matters.
      return text.length < ACCOUNT_DIGITS ? text : redactText(`":${text}`).slice(2)
    }
    if (isUuid(value)) return `"${value}"`
    const known = texts.get(value)
    if (known !== undefined) return known
    const text = redactText(JSON.stringify(value))
    if (texts.size >= TEXTS_MAX) texts.clear()
    texts.set(value, text)
    return text
  }

  function memberText(name: string, value: string | number | boolean | null): string {
    let known = names.get(name)
    if (known === undefined) {
      known = { start: `,${JSON.stringify(name)}:`, isSecret: SECRET_NAME.test(name) }
      names.set(name, known)
    }
    const isHidden = known.isSecret && (typeof value === 'string' || Number.isFinite(value))
    return known.start + (isHidden ? '"[redacted]"' : valueText(value))
  }

  return (members, message) => {
    const now = Date.now()
    if (now !== head.at) {
      head.at = now
      head.text = `{"level":"info"${pino.stdTimeFunctions.isoTime()},"pid":${process.pid}`
    }
    let line = head.text
    for (const name in members) {
      const value = members[name]
      if (value !== undefined) line += memberText(name, value)
    }
    destination.write(`${line}${memberText('msg', message)}}\n`)
  }
}

/** Most lines have no trace, and need no copy of their members. */
function withTrace(line: object, names: object): object {
  return 'trace_id' in names ? { ...names, ...line } : line
}

/**
 * Name, message, stack, and the code as `error_code`, because `code` is redacted as the payer's authorisation code. Other
 * members of an error, such as a query's values, are not logged.
 */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) }
  const code = 'code' in error && typeof error.code === 'string' ? { error_code: error.code } : {}
  const cause = error.cause === undefined ? {} : { cause: serializeError(error.cause) }
  return { type: error.name, message: error.message, ...code, stack: error.stack, ...cause }
}
