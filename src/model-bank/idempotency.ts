import { BankError } from './bank-error.ts'
import type { ResourceAnswer } from './resource.ts'

const VALID_MS = 86_400_000

/** Answers that are given again for the same key and body. Only successes are kept, as the profile asks. */
export type Idempotency = {
  /** @throws {BankError} when the key came with another body before */
  once(key: string, bodyHash: string, run: () => ResourceAnswer): ResourceAnswer
}

export type Answers = Map<string, { bodyHash: string; answer: ResourceAnswer; until: number }>

export function makeIdempotency(answers: Answers): Idempotency {
  return {
    once: (key, bodyHash, run) => {
      const known = answers.get(key)
      if (known !== undefined && known.until > Date.now()) {
        if (known.bodyHash === bodyHash) return known.answer
        throw new BankError('UK.OBIE.Header.Invalid', 'x-idempotency-key was used with another body')
      }
      const answer = run()
      answers.set(key, { bodyHash, answer, until: Date.now() + VALID_MS })
      return answer
    },
  }
}
