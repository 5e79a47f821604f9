import { VERBS, VERB_NAMES, isVerb } from '../language.ts'
import { STRUCTURES, STRUCTURE_NAMES, isStructure } from '../language/structure.ts'
import { nearestWord } from '../../base/nearest-word.ts'

const STEP_WORDS: readonly string[] = [...VERB_NAMES, ...STRUCTURE_NAMES]

/** A verb that was probably meant, with a line that shows how it is written. */
export type Guess = { verb: string; hint: string | undefined }

/** The line that shows how a verb is written. */
export function exampleOf(verb: string): string | undefined {
  if (isVerb(verb)) return `- ${VERBS[verb].examples[0]}`
  return isStructure(verb) ? `- ${STRUCTURES[verb].examples[0]}` : undefined
}

const APPROVE = 'bank: { approve: $p1 }'
const AWAIT = VERBS.await.examples[0]
const SETTLED = 'await: { payment: $p1, status: Settled }'
const REFUSES = 'pay: { …, scenario: insufficient-funds }, then bank: { approve: $p1 }'

/** Words that people have for what this language calls otherwise, each with the step that does it. */
const SYNONYMS: Readonly<Record<string, string>> = {
  payment: VERBS.pay.examples[0],
  create: VERBS.pay.examples[0],
  createpayment: VERBS.pay.examples[0],
  approve: APPROVE,
  authorise: APPROVE,
  authorize: APPROVE,
  cancel: 'bank: { cancel: $p1 }, or payments.cancel: { payment: $p1 } before the payer decides',
  cancelpayment: VERBS['payments.cancel'].examples[0],
  decline: 'bank: { cancel: $p1 }',
  reject: REFUSES,
  fail: REFUSES,
  settle: SETTLED,
  settled: SETTLED,
  wait: AWAIT,
  waitfor: AWAIT,
  eventually: AWAIT,
  until: AWAIT,
  sleep: `${AWAIT}, or clock: { advance: 10s }`,
  assert: VERBS.expect.examples[0],
  check: VERBS.expect.examples[0],
  verify: VERBS.expect.examples[0],
  should: VERBS.expect.examples[0],
  sameas: 'pay: { repeat: $p1 }',
  repeat: 'pay: { repeat: $p1 }',
  retry: 'pay: { repeat: $p1 }',
  webhook: VERBS.webhooks.examples[0],
  advance: VERBS.clock.examples[0],
  time: VERBS.clock.examples[0],
  travel: VERBS.clock.examples[0],
  get: VERBS.http.examples[0],
  post: 'http: { post: "/payments", body: { … }, expect: { http: 201 } }',
  fault: 'bank: { fault: { latency: 100ms } }',
  run: VERBS.exec.examples[0],
  shell: VERBS.exec.examples[0],
  command: VERBS.exec.examples[0],
  include: STRUCTURES.use.examples[0],
  import: STRUCTURES.use.examples[0],
  loop: STRUCTURES.for_each.examples[0],
  approvemerchant: VERBS['kyb.approve'].examples[0],
}

/** The verb that a word was probably meant to be; undefined where it is like none. */
export function guessVerb(word: string, beside: readonly string[] = []): Guess | undefined {
  const plain = word.toLowerCase().replace(/[_\-\s.]/g, '')
  const step = Object.hasOwn(SYNONYMS, plain) ? SYNONYMS[plain] : undefined
  if (step !== undefined) return guessOf(step)
  const near = nearestWord(word, [...STEP_WORDS, ...beside])
  if (near !== undefined) return { verb: near, hint: exampleOf(near) }
  const synonym = nearestWord(plain, Object.keys(SYNONYMS))
  return synonym === undefined ? undefined : guessOf(SYNONYMS[synonym] ?? '')
}

function guessOf(step: string): Guess {
  return { verb: step.split(':')[0] ?? '', hint: `- ${step}` }
}

const SHOWN_FIRST = [
  'pay',
  'bank',
  'await',
  'expect',
  'payments.refund',
  'webhooks',
  'receiver',
  'clock',
  'dispute',
  'http',
]

/** The verbs that most steps have, and where the others are told. */
export const COMMON_VERBS = `one of ${SHOWN_FIRST.join(', ')}; svc scenarios schema has all ${STEP_WORDS.length}`
