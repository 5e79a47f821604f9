import { z } from 'zod'
import { Name, Text } from './parts.ts'
import type { VerbTable } from './parts.ts'

/*
 * What stands around steps: variables, tables of them, and steps that hold other steps. Parallel is there while a case is
 * played; all else is spread out when the file is read.
 */

const ScalarValue = z.union([z.string(), z.int(), z.boolean()])

const Item = z.union([ScalarValue, z.record(Name, ScalarValue)])
export type VarItem = z.infer<typeof Item>

/** A variable: one value, or a list to loop over. */
export const VarValue = z.union([ScalarValue, z.array(Item).min(1).max(200)])

export const Vars = z.record(Name, VarValue)

/** A table of variables: rows, or columns of which all combinations are rows. Each row is a case. */
export const Matrix = z
  .union([z.array(z.record(Name, ScalarValue)).min(1), z.record(Name, z.array(ScalarValue).min(1))])
  .meta({ description: 'a case for each row: a list of mappings, or lists of which all combinations are played' })

export const Tags = z
  .array(z.string().regex(/^[A-Za-z0-9][\w.-]{0,39}$/, 'must be words of letters, digits, ".", "-" and "_"'))
  .min(1)
  .max(20)

export const Use = z.union([
  z.string().min(1),
  z.strictObject({ file: z.string().min(1), vars: z.record(Name, Item).optional() }),
])

/** As many branches may be played at the same time. */
export const AT_ONCE_MAX = 32

/** The schemas of the steps that hold steps, around the schema of a step. */
export function structuresOf(step: z.ZodType) {
  const steps = z.array(step).min(1).max(500)
  return {
    parallel: {
      schema: z
        .array(z.union([step, steps]))
        .min(2)
        .max(32),
      text: 'Plays 2 to 32 branches at once; their names are available afterwards.',
      examples: ['parallel: [ bank: { approve: $p1 }, bank: { cancel: $p2 } ]'],
    },
    for_each: {
      schema: z.strictObject({
        in: z.union([z.array(Item).min(1).max(200), Text.regex(/^\$/)]),
        as: Name,
        at_once: z.boolean().optional().meta({ description: 'the rounds are played at the same time' }),
        steps,
      }),
      text: 'Plays the steps for each of up to 200 items; `at_once: true` plays them at the same time.',
      examples: ['for_each: { in: ["1.00", "2.00"], as: amount, steps: [ pay: { amount: $amount, currency: GBP } ] }'],
    },
    use: {
      schema: Use,
      text: 'Plays the steps of another file; its path is relative to this file.',
      examples: ['use: ./common.yaml', 'use: { file: ./common.yaml, vars: { amount: "5.00" } }'],
    },
  } as const satisfies VerbTable
}

/** Steps are checked one by one, each by its own verb's schema. */
export const STRUCTURES = structuresOf(z.unknown())
export type Structure = keyof typeof STRUCTURES
export const STRUCTURE_NAMES: readonly string[] = Object.keys(STRUCTURES)

export function isStructure(word: string): word is Structure {
  return Object.hasOwn(STRUCTURES, word)
}
