import { Dispute } from '../../src/wire/disputes.ts'
import { CreatedPayment } from '../../src/wire/payments.ts'
import { Refund } from '../../src/wire/refunds.ts'
import { PaymentResponse } from '../../src/wire/orders.ts'
import type { Explained } from './explain.ts'
import { memberOf } from './member.ts'
import { nearestWord } from './nearest.ts'
import { referencesIn, stringsOf } from './references.ts'
import type { Reference } from './references.ts'
import type { Path } from './source.ts'

/** What a name stands for, and the members it has as far as they are known. */
type Known = {
  kind: 'var' | 'payment' | 'refund' | 'dispute' | 'customer' | 'order' | 'answer' | 'merchant'
  members: readonly string[] | undefined
}

const MERCHANT: Known = { kind: 'merchant', members: ['merchant_id', 'client_id', 'name'] }

/** Fields that name a payment: their reference is to the payment itself and not to a member of it. */
const PAYMENT_FIELDS = new Set(['of', 'for', 'payment', 'repeat', 'approve', 'cancel'])
const DISPUTE_FIELDS = new Set(['dispute'])
/** In verbs where they name a customer; elsewhere they may be anything. */
const CUSTOMER_FIELDS = new Set(['from', 'to', 'account'])
const MADE_BY = { payment: 'pay', dispute: 'dispute', customer: 'customer', order: 'order' } as const
type Made = keyof typeof MADE_BY

/** Finds references to names that do not exist, or not yet, and names that are given twice. */
export function checkReferences(raw: unknown, { vars }: { vars: Readonly<Record<string, unknown>> }): Explained[] {
  const known = new Map<string, Known>([['merchant', MERCHANT]])
  for (const name of Object.keys(vars)) known.set(name, { kind: 'var', members: undefined })
  const steps: unknown[] = Array.isArray(memberOf(raw, 'steps')) ? Object.values(Object(memberOf(raw, 'steps'))) : []
  const later = new Set(steps.map((step) => captureOf(step)?.name).filter((name) => name !== undefined))
  // What is given makes the merchant: it can't refer to it.
  const variables = new Map([...known].filter(([, { kind }]) => kind === 'var'))
  const problems = [...checkStrings(memberOf(raw, 'given'), ['given'], { known: variables, later })]
  for (const [index, step] of steps.entries()) {
    problems.push(...checkStrings(step, ['steps', index], { known, later }))
    const capture = captureOf(step)
    if (capture === undefined) continue
    if (known.has(capture.name))
      problems.push({
        path: ['steps', index, capture.verb, 'as'],
        what: 'value',
        message: `the name "${capture.name}" is taken already`,
      })
    known.set(capture.name, capture.known)
  }
  return problems
}

type Names = { known: ReadonlyMap<string, Known>; later: ReadonlySet<string> }

function checkStrings(value: unknown, base: Path, names: Names): Explained[] {
  return [...stringsOf(value, base)].flatMap(({ text, path }) => {
    return referencesIn(text).flatMap((reference) => {
      const problem = problemOf(reference, {
        ...names,
        wanted: path.length === 4 ? wantedAt(String(path[3])) : undefined,
      })
      return problem === undefined ? [] : [{ path, what: 'value' as const, ...problem }]
    })
  })
}

/** What a field of a step names, where it names something that an earlier step made. */
function wantedAt(field: string): Made | undefined {
  if (PAYMENT_FIELDS.has(field)) return 'payment'
  if (CUSTOMER_FIELDS.has(field)) return 'customer'
  if (field === 'order') return 'order'
  return DISPUTE_FIELDS.has(field) ? 'dispute' : undefined
}

type Problem = { message: string; hint?: string | undefined }

function problemOf(
  reference: Reference,
  { known, later, wanted }: Names & { wanted: Made | undefined },
): Problem | undefined {
  const { text, name, path, isWhole } = reference
  const found = known.get(name)
  if (found === undefined) return unknownName(text, name, { known, later })
  // The settlement account has no customer of the case's.
  if (wanted === 'customer' && found.kind === 'merchant' && path === '') return undefined
  if (wanted !== undefined && found.kind !== wanted)
    return { message: `${text} is no ${wanted}: only a step ${MADE_BY[wanted]} makes one` }
  if (wanted !== undefined && path !== '')
    return { message: `${text} is a part of a ${wanted}; here the ${wanted} itself is named`, hint: `$${name}` }
  if (found.kind === 'var') return path === '' ? undefined : { message: `$${name} is a variable; it has no members` }
  if (path === '')
    return isWhole
      ? undefined
      : {
          message: `${text} is a whole ${found.kind} inside a text: say which part of it`,
          hint: `$${name}.${found.members?.[0] ?? 'body'}`,
        }
  const member = /^\.(\w+)/.exec(path)?.[1]
  if (found.members === undefined || member === undefined || found.members.includes(member)) return undefined
  const meant = nearestWord(member, found.members)
  return {
    message: `${text}: "${name}" has no "${member}"${meant === undefined ? '' : `: did you mean $${name}.${meant}?`}`,
    hint: meant === undefined ? `one of ${found.members.join(', ')}` : undefined,
  }
}

function unknownName(text: string, name: string, { known, later }: Names): Problem {
  if (later.has(name))
    return {
      message: `${text} is used before the step that makes it`,
      hint: 'the steps in the order in which they happen',
    }
  const names = [...known.keys()]
  const meant = nearestWord(name, names)
  return {
    message: `unknown reference ${text}${meant === undefined ? '' : `: did you mean $${meant}?`}`,
    hint:
      meant === undefined
        ? `a name given with "as" in a step before, or in vars; here are ${names.map((known) => `$${known}`).join(', ')}; a plain dollar sign is $$`
        : undefined,
  }
}

function captureOf(step: unknown): { name: string; verb: string; known: Known } | undefined {
  for (const [verb, kind, members] of [
    ['pay', 'payment', Object.keys(CreatedPayment.shape)],
    ['refund', 'refund', Object.keys(Refund.shape)],
    ['dispute', 'dispute', Object.keys(Dispute.shape)],
    ['customer', 'customer', ['customer_id', 'name', 'email', 'mobile', 'proxy_id', 'account_id', 'accounts']],
    ['order', 'order', Object.keys(PaymentResponse.shape)],
    ['http', 'answer', ['http', 'headers', 'body']],
  ] as const) {
    const name = memberOf(memberOf(step, verb), 'as')
    if (typeof name === 'string') return { name, verb, known: { kind, members } }
  }
  return captureOfUnknownVerb(step)
}

/** A misspelt verb is told as such; that its name is not known either would only be noise. */
function captureOfUnknownVerb(step: unknown): { name: string; verb: string; known: Known } | undefined {
  for (const [verb, value] of Object.entries(Object(step))) {
    const name = memberOf(value, 'as')
    if (typeof name === 'string') return { name, verb, known: { kind: 'payment', members: undefined } }
  }
  return undefined
}
