import { z } from 'zod'

/** A row of `bank_software_statements`; `statement` is sealed JSON. */
export const StatementRow = z.object({
  software_id: z.string(),
  statement: z.string(),
  set_by: z.string(),
  set_at: z.string(),
})
export type StatementRow = z.infer<typeof StatementRow>

/** A row of `bank_registrations`. */
export const RegistrationRow = z.object({
  bank_id: z.string(),
  software_id: z.string(),
  client_id: z.string(),
  registered_by: z.string(),
  registered_at: z.string(),
})
export type RegistrationRow = z.infer<typeof RegistrationRow>

/** The steps of a test, in order; those after one that failed are not tried. */
export const TEST_STEPS = ['discovery', 'keys', 'token', 'consent', 'read'] as const

export const TestStep = z.object({ step: z.enum(TEST_STEPS), passed: z.boolean(), detail: z.string() })
export type TestStep = z.infer<typeof TestStep>

/** A row of `bank_tests`. */
export const TestRow = z.object({
  bank_id: z.string(),
  passed: z.boolean(),
  steps: z.array(TestStep),
  tested_by: z.string(),
  tested_at: z.string(),
  passed_at: z.string().nullable(),
})
export type TestRow = z.infer<typeof TestRow>
