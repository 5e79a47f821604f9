import { z } from 'zod'
import { PERCENTAGE_PATTERN } from '../../../src/lib/percentage.ts'
import { Wait } from './parts.ts'

/** One that a reference stands for is looked at once it is filled in. */
const Share = z
  .string()
  .refine(
    (share) => PERCENTAGE_PATTERN.test(share) || share.startsWith('$'),
    'must be a share such as 20% or 0.5%, at most 100%',
  )
  .meta({ description: 'a share such as 20% or 0.5%, at most 100%', examples: ['20%'] })

/** What goes wrong at the mock bank for the case's merchant; what is not named does not, and with nothing named nothing. */
export const BankFault = z.strictObject({
  /** Before each answer of the bank. */
  latency: Wait.optional(),
  /** Callbacks that get lost; with one of these two the bank reports every decision by itself. */
  drop_callback: Share.optional(),
  /** Callbacks that come twice. */
  duplicate: Share.optional(),
  /** Calls without an answer; half of them are carried out all the same. */
  unavailable: Share.optional(),
  /** What is hit follows from it; 1 where none is given. */
  seed: z.int().min(0).max(2_147_483_647).optional(),
})
export type BankFault = z.infer<typeof BankFault>
