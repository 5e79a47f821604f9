import { z } from 'zod'
import { ExpectError, CaseSetup, VERBS } from '../language.ts'
import { Ref } from '../language/parts.ts'
import { Matrix, Tags, Vars, structuresOf } from '../language/structure.ts'

/** What may stand beside the verb of a step: they are about how it is played, and not about what it takes. */
const BESIDE_VERB = { expect_error: ExpectError.optional(), acting_as: Ref.merchant.optional() } as const

const Name = z.string().min(1).max(200)
const Steps = z.array(z.unknown()).min(1).max(500)

/** What stands above the steps. Steps are checked one by one, each by its own verb's schema. */
export const Frame = z.strictObject({
  scenario: z.literal('v1'),
  name: Name,
  tags: Tags.optional(),
  vars: Vars.optional(),
  matrix: Matrix.optional(),
  given: CaseSetup.optional(),
  steps: Steps,
})

/** A document whose steps another one uses; `part` says that it is no case of its own. */
export const PartFrame = Frame.omit({ given: true, matrix: true }).extend({ scenario: z.enum(['v1', 'part']) })

export function jsonSchema(): Record<string, unknown> {
  const verbs = Object.entries(VERBS).map(([verb, { schema }]) => z.strictObject({ [verb]: schema, ...BESIDE_VERB }))
  const step: z.ZodType = z.lazy(() => z.union([...verbs, ...structures])).meta({ id: 'Step' })
  const structures = Object.entries(structuresOf(step)).map(([word, { schema }]) => z.strictObject({ [word]: schema }))
  const steps = z.array(step).min(1).max(500)
  const document = Frame.extend({ scenario: PartFrame.shape.scenario, steps })
  return { ...z.toJSONSchema(document, { io: 'input', unrepresentable: 'any' }), title: 'svc scenario, v1' }
}
