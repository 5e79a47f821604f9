import { z } from 'zod'
import { IDENTITY_KINDS } from '../../service/up/plan.ts'

export const RunOptions = z.object({
  var: z.array(z.string()).default([]),
  only: z.string().optional(),
  tag: z.array(z.string()).default([]),
  bail: z.boolean().default(false),
  parallel: z
    .string()
    .regex(/^([1-9]|[12]\d|3[0-2])$/, 'must be 1 to 32')
    .transform(Number),
  seed: z
    .string()
    .regex(/^[\w.:-]{1,64}$/, 'must be 1 to 64 letters, digits, or any of . : _ -')
    .optional(),
  reporter: z.array(z.string()).default([]),
  timeout: z.string(),
  keep: z.boolean().default(false),
  allowExec: z.boolean().default(false),
  ephemeral: z.boolean().default(false),
  idp: z.enum(IDENTITY_KINDS).optional(),
  authUrl: z.string().optional(),
})
export type RunOptions = z.infer<typeof RunOptions>
