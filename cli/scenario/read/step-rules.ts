import type { Explained } from './explain.ts'
import { VERBS } from '../language.ts'
import type { ExpectError, Verb } from '../language.ts'
import { memberOf } from '../member.ts'
import { referencesIn } from './references.ts'

/** Rules over several fields, which hold beyond what a schema of one can say. */
export function ruleProblems(verb: Verb, input: unknown, expectError: ExpectError | undefined): Explained[] {
  const has = (name: string): boolean => memberOf(input, name) !== undefined
  const problems: Explained[] = []
  const add = (message: string, hint: string): void => void problems.push({ path: [verb], what: 'key', message, hint })
  if (verb === 'pay' && !has('repeat')) {
    for (const name of ['amount', 'currency']) if (!has(name)) add(`"${name}" is missing here`, VERBS.pay.examples[0])
  }
  if (verb === 'bank' && ['approve', 'cancel', 'fault'].filter(has).length !== 1)
    add('bank takes one of approve, cancel and fault', VERBS.bank.examples[0])
  if (
    verb === 'expect' &&
    has('transactions') &&
    String(memberOf(input, 'account')).replace(/[{}]/g, '') === '$merchant'
  )
    add(
      "the settlement account is the bank's: only a customer's transactions can be read",
      'expect: { account: $merchant, balance: "30.00" }',
    )
  const [only, ...others] = verb === 'expect' ? Object.keys(Object(input)) : []
  if (only !== undefined && others.length === 0 && only !== 'books' && only !== 'audit')
    add(`expect says nothing about ${String(memberOf(input, only))}`, VERBS.expect.examples[0])
  if (verb === 'receiver' && !has('answers') && !has('delay') && !has('secret'))
    add('receiver takes one or more of answers, delay and secret', VERBS.receiver.examples[0])
  if (verb === 'http' && ['get', 'post', 'put', 'delete'].filter(has).length !== 1)
    add('http takes one of get, post, put and delete', VERBS.http.examples[0])
  if (expectError !== undefined && Object.keys(expectError).length === 0) {
    problems.push({
      path: ['expect_error'],
      what: 'key',
      message: 'expect_error says nothing',
      hint: 'expect_error: { http: 403, code: PAYOUT_HELD }',
    })
  }
  return problems
}

/**
 * What a step before has made, or the command line says of a variable, is data, and a shell would read it as its own
 * language. `written` is the step as its file has it.
 */
export function shellProblem(verb: Verb, written: unknown): Explained[] {
  const run = memberOf(memberOf(written, verb), 'run')
  if (verb !== 'exec' || typeof run !== 'string' || referencesIn(run).length === 0) return []
  const message = 'a reference in a line for the shell could say more than one word of it'
  const hint = 'run: [node, check.mjs, $p1.payment_id], or env: { ID: $p1.payment_id } and $$ID in the line'
  return [{ path: [verb], what: 'key', message, hint }]
}
