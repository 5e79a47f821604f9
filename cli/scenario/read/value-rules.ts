import { PLAIN_SCENARIOS, SCENARIO_PARAMETERS } from '../../../src/lib/bank-scenarios.ts'
import type { Explained } from './explain.ts'
import type { Verb } from '../language.ts'
import { memberOf } from '../member.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import type { Step } from './read-step.ts'

type Problem = { message: string; hint?: string | undefined }

/** Verbs that send what they are given; elsewhere the same fields hold what is expected. */
const SENDING: ReadonlySet<Verb> = new Set<Verb>([
  'pay',
  'checkout',
  'payments.refund',
  'order',
  'recurring',
  'request',
  'offer',
  'customer',
])

const RULES: Readonly<Record<string, (text: string) => Problem | undefined>> = {
  amount: amountProblem,
  refund_amount_available: amountProblem,
  max_amount_per_payment: amountProblem,
  balance: amountProblem,
  currency: currencyProblem,
  scenario: scenarioProblem,
}

type Read = Pick<Step, 'verb' | 'input' | 'expectError' | 'actingAs'>

/**
 * Values that the service can only refuse. A step that expects a refusal may send any: it is left alone, and so is what
 * is not known before the case is played.
 */
export function valueProblems({ verb, input, expectError, actingAs }: Read): Explained[] {
  if (expectError !== undefined) return neverRefused(verb, actingAs ?? memberOf(input, 'by'))
  if (!SENDING.has(verb)) return []
  return [[verb], [verb, 'mandate']].flatMap((path) => {
    const holder: unknown = path.length === 1 ? input : memberOf(input, 'mandate')
    return Object.entries(RULES).flatMap(([field, rule]): Explained[] => {
      const value = memberOf(holder, field)
      const problem = typeof value === 'string' && !value.includes('$') ? rule(value) : undefined
      return problem === undefined ? [] : [{ ...problem, path: [...path, field], what: 'value' }]
    })
  })
}

/** The decimals of all currencies that are offered. */
const DECIMALS = 2

function amountProblem(text: string): Problem | undefined {
  const [, decimals] = /^\d{1,13}(?:\.(\d{1,5}))?$/.exec(text) ?? []
  if (decimals === undefined && !/^\d{1,13}$/.test(text)) {
    const hint = `"${rewritten(text) ?? '50.00'}"`
    return { message: `amount "${text}" is none: digits and a dot, without a currency`, hint }
  }
  if (!/[1-9]/.test(decimals?.slice(DECIMALS) ?? '')) return undefined
  return { message: `"${text}" has more than two decimals, which no currency here has`, hint: `"${cut(text)}"` }
}

function cut(text: string): string {
  return text.slice(0, text.indexOf('.') + 1 + DECIMALS)
}

/** "£5,00" and "1,234.50 GBP" as they are written here; undefined where it is anybody's guess. */
function rewritten(text: string): string | undefined {
  const bare = text.replace(/[£€$\s]|gbp|eur/gi, '')
  const digits = /,\d{1,2}$/.test(bare) ? bare.replace(/\./g, '').replace(',', '.') : bare.replace(/,/g, '')
  return /^\d{1,13}(\.\d{1,2})?$/.test(digits) ? digits : undefined
}

function currencyProblem(text: string): Problem | undefined {
  if (/^[A-Z]{3}$/.test(text)) return undefined
  const upper = text.toUpperCase()
  return {
    message: `currency must be 3 upper-case letters; it is "${text}"`,
    hint: /^[A-Z]{3}$/.test(upper) ? upper : 'GBP',
  }
}

const SCENARIOS: readonly string[] = [...PLAIN_SCENARIOS, ...Object.keys(SCENARIO_PARAMETERS)]

function scenarioProblem(text: string): Problem | undefined {
  const [name = '', ...parameter] = text.split(':')
  const wanted = new Map<string, string>(Object.entries(SCENARIO_PARAMETERS)).get(name)
  const isKnown = SCENARIOS.includes(name)
  if (isKnown && (wanted !== undefined) === parameter.length > 0) return undefined
  if (isKnown && wanted !== undefined)
    return { message: `scenario ${name} takes a parameter`, hint: `"${name}:${wanted}"` }
  if (isKnown) return { message: `scenario ${name} takes no parameter`, hint: name }
  const meant = nearestWord(name, SCENARIOS)
  const message = `the mock bank knows no scenario "${text}"${meant === undefined ? '' : `: did you mean ${meant}?`}`
  return { message, hint: meant === undefined ? `one of ${SCENARIOS.join(', ')}` : undefined }
}

/** Verbs that only watch what is the case's own, or run here: the API refuses them nothing, but as somebody else. */
const WATCHING: ReadonlySet<Verb> = new Set<Verb>(['await', 'webhooks', 'receiver', 'exec'])

function neverRefused(verb: Verb, somebodyElse: unknown): Explained[] {
  if (!WATCHING.has(verb) || somebodyElse !== undefined) return []
  return [
    {
      path: ['expect_error'],
      what: 'key',
      message: `${verb} asks for nothing that the service could refuse, so that expect_error never comes true`,
      hint: 'beside the step that is refused: pay, payments.refund, http, …',
    },
  ]
}
