import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'

/** What can be made to go wrong, and what each does. `svc up --bank model` and tests switch them on at the control port. */
export const FAULT_NAMES = {
  timeout_after_acceptance: 'does what was asked and never answers',
  held_order:
    'keeps an order for `seconds`, or until it is switched off; rejects its repeats meanwhile, and then does it',
  slow: 'answers after `seconds`',
  late_settlement: 'payments stay in process for `seconds`',
  rejected_after_acceptance: 'payments are accepted, and rejected after `seconds` with `reason_code`',
  too_many_requests: 'answers 429 with Retry-After: `seconds`',
  server_error: 'answers `status`, and does nothing',
  unsigned_refusal: 'rejects in the words of the standard, without a signature, and does nothing',
  server_error_after_acceptance: 'does what was asked and answers `status`',
  half_a_body: 'does what was asked and closes the connection in the middle of the answer',
  oversized_body: 'does what was asked and answers with two megabytes',
  redirect_elsewhere: 'redirects to another host, and does nothing',
  wrong_signature: 'signs answers with a key that the bank does not publish',
  missing_signature: 'does not sign answers',
  another_amount: 'answers repeat another amount than was asked for',
  another_reference: 'answers repeat another end-to-end id',
  another_payee: 'answers repeat another account of the payee',
  another_consent: 'answers name another consent',
  another_issuer: 'the configuration is that of another issuer',
  another_token_endpoint: 'the configuration names a token endpoint at another host',
  down: 'closes every connection without an answer',
  return_wrong_nonce: 'the id token of the return has another nonce',
  return_wrong_issuer: 'the id token of the return names another issuer',
  return_wrong_issuer_parameter: 'the parameter iss of the return names another issuer',
  return_wrong_audience: 'the id token of the return is for another client',
  return_wrong_intent: 'the id token of the return is about another consent',
  return_wrong_acr: 'the id token of the return claims a weaker authentication',
  return_wrong_c_hash: 'c_hash of the return does not fit the code',
  return_wrong_s_hash: 's_hash of the return does not fit the state',
  return_without_c_hash: 'the id token of the return lacks c_hash',
  return_without_s_hash: 'the id token of the return lacks s_hash',
  return_expired: 'the id token of the return has expired',
  return_wrong_key: 'the id token of the return is signed with a key that the bank does not publish',
  return_alg_none: 'the id token of the return is not signed',
  return_alg_rs256: 'the id token of the return is signed with RS256',
  return_wrong_state: 'the return carries another state',
} as const

export type FaultName = keyof typeof FAULT_NAMES
const NAMES = Object.keys(FAULT_NAMES).filter((name): name is FaultName => name in FAULT_NAMES)

/** `on` names the operations that fail (operations.ts and `token`); without it all do that the fault can be about. */
export const Fault = z.strictObject({
  name: z.enum(NAMES),
  on: z.array(z.string()).optional(),
  /** How many requests fail before the fault ends by itself. */
  times: z.int().positive().optional(),
  seconds: z.number().nonnegative().default(30),
  status: z.int().min(500).max(599).default(503),
  reason_code: z
    .string()
    .regex(/^[A-Z0-9]{4}$/)
    .default('AC04'),
})
export type Fault = z.infer<typeof Fault>

/** The faults that are switched on. */
export type Faults = {
  list(): readonly Fault[]
  add(fault: Fault): void
  clear(): void
  /** The fault of that name for an operation, counted as used. */
  take(name: FaultName, operation: string): Fault | undefined
  /** Waits while an order is held. False for a repeat of one that is. */
  hold(key: string, operation: string): Promise<boolean>
}

/** Only what moves money is answered too late by default: the question that matters is whether it is paid twice. */
const ON_DEFAULT: Partial<Record<FaultName, readonly string[]>> = {
  timeout_after_acceptance: ['createPayment', 'createVrp'],
  held_order: ['createPayment', 'createVrp'],
  server_error_after_acceptance: ['createPayment', 'createVrp'],
  half_a_body: ['createPayment', 'createVrp'],
  oversized_body: ['createPayment', 'createVrp'],
}

const HOLD_LOOK_MS = 50

export function makeFaults(): Faults {
  let active: Fault[] = []
  const held = new Set<string>()
  const find = (name: FaultName, operation: string): Fault | undefined => {
    const fault = active.find((each) => each.name === name)
    const operations = fault?.on ?? ON_DEFAULT[name]
    return operations === undefined || operations.includes(operation) ? fault : undefined
  }
  return {
    list: () => active,
    add: (fault) => {
      active = [...active.filter(({ name }) => name !== fault.name), fault]
    },
    clear: () => {
      active = []
    },
    take: (name, operation) => {
      const fault = find(name, operation)
      if (fault === undefined) return undefined
      if (fault.times !== undefined) fault.times -= 1
      if (fault.times === 0) active = active.filter((each) => each !== fault)
      return fault
    },
    hold: async (key, operation) => {
      const fault = find('held_order', operation)
      if (fault === undefined) return true
      if (held.has(key)) return false
      held.add(key)
      const end = Date.now() + fault.seconds * 1_000
      while (active.includes(fault) && Date.now() < end) await wait(HOLD_LOOK_MS, undefined, { ref: false })
      return held.delete(key)
    },
  }
}
