import { pino } from 'pino'
import type { Logger } from 'pino'

export type { Logger } from 'pino'

/** Names whose values never reach a log, wherever they stand in a logged object. */
const SECRET_NAMES = [
  'authorization', 'cookie', 'code', 'state', 'token', 'secret', 'password', 'webhook_signing_secret', 'webhookSigningSecret',
  'encryptionKey', 'databaseUrl', 'redirect_url', 'redirectUrl', 'debtor_identification', 'payer_email', 'payer_phone',
  '["x-payment-state"]', '["x-service-signature"]',
]

const SECRET_VALUES: readonly [RegExp, string][] = [
  [/\b[0-9a-f]{64}\b/gi, '[redacted]'],
  [/Bearer\s+[A-Za-z0-9._~+/-]+=*/g, 'Bearer [redacted]'],
  [/\b(postgres(?:ql)?:\/\/[^:/\s]+:)[^@\s]+@/g, '$1[redacted]@'],
  [/([?&](?:code|state|request)=)[^&\s"]+/g, '$1[redacted]'],
]

/** Takes secrets out of free text: 64 hex characters, bearer tokens, database passwords, codes and states in URLs. */
export function redactText(text: string): string {
  return SECRET_VALUES.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), text)
}

/**
 * JSON lines to standard error, or to `destination`; standard output belongs to results. Secrets are taken out twice:
 * by the names of members, and by the look of values.
 */
export function makeLog(level: string, destination: NodeJS.WritableStream = process.stderr): Logger {
  const paths = SECRET_NAMES.flatMap((name) => (name.startsWith('[') ? [name, `*${name}`, `*.*${name}`] : [name, `*.${name}`, `*.*.${name}`]))
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths, censor: '[redacted]' },
      serializers: { err: serializeError },
    },
    { write: (line: string) => destination.write(redactText(line)) },
  )
}

/** Name, message, code and stack: what an error object carries beside them (a query's values, say) is not for logs. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) }
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  const cause = error.cause === undefined ? {} : { cause: serializeError(error.cause) }
  return { type: error.name, message: error.message, ...code, stack: error.stack, ...cause }
}
