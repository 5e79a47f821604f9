import { CliError, withHint } from '../base/errors.ts'
import type { ToldField } from '../base/errors.ts'
import { wholeCommand } from '../kit/command-line.ts'
import type { CreateOptions } from './create.ts'

type Changed = Parameters<typeof wholeCommand>[2]

/** The creation as it was typed, with these values instead: a command to paste. */
export function commandFor({ wait, timeout, ...options }: CreateOptions, changed: Changed = {}): string {
  const unusual = { wait, timeout: timeout === '30s' ? undefined : timeout }
  const { amount, currency, ...rest } = options
  return wholeCommand('svc payments create', { amount, currency, ...rest, ...unusual }, changed)
}

const MENDABLE: ReadonlySet<string> = new Set(['VALIDATION_FAILED', 'UNSUPPORTED_CURRENCY'])

/** A refusal of values, with the same command and values that can be; one where some are not known here as it is. */
export function mended(error: unknown, options: CreateOptions): unknown {
  if (!(error instanceof CliError) || !MENDABLE.has(error.code)) return error
  const changes = (error.options.fields ?? []).map((field) => insteadOf(field))
  if (changes.length === 0 || changes.includes(undefined)) return error
  return withHint(error, commandFor(options, Object.assign({}, ...changes)))
}

const INSTEAD: Readonly<Record<string, Changed>> = {
  amount: { amount: '50.00' },
  currency: { currency: 'GBP' },
  'control_parameters.max_amount_per_payment': { maxAmount: '20.00' },
  payer_email: { payerEmail: 'ada@example.org' },
  payer_phone: { payerPhone: '+447700900123' },
  valid_to: { validTo: '90d' },
}

function insteadOf({ path, expected }: ToldField): Changed {
  if (path === 'currency' && expected !== undefined) return { currency: expected }
  return path.startsWith('control_parameters.periodic_limits') ? { periodic: ['MONTH:200.00'] } : INSTEAD[path]
}
