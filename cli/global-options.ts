import { z } from 'zod'
import { usageError } from './errors.ts'
import { OUTPUT_MODES } from './output-modes.ts'
import type { OutputMode } from './output-modes.ts'
import { NO_CREDENTIALS, holdsCredentials } from './service-address.ts'

/** What every command takes. */
export const GlobalOptions = z.object({
  apiUrl: z
    .string()
    .refine((text) => !holdsCredentials(text), NO_CREDENTIALS)
    .optional(),
  clientId: z.string().optional(),
  as: z.string().optional(),
  customer: z.string().optional(),
  profile: z.string().optional(),
  stateDir: z.string().optional(),
  output: z.enum(OUTPUT_MODES).optional(),
  json: z.union([z.literal(true), z.string()]).optional(),
  query: z.string().optional(),
  header: z.boolean().default(true),
  color: z.enum(['auto', 'always', 'never']).default('auto'),
})
export type GlobalOptions = z.infer<typeof GlobalOptions>

/** The options of a command as its schema has them. @throws {CliError} exit code 2, naming the one that is wrong */
export function parseOptions<Options extends z.ZodType>(schema: Options, given: unknown): z.output<Options> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const name = String(issue?.path[0] ?? '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw usageError(`--${name}: ${issue?.message ?? 'is wrong'}`)
}

/** The form of results where no flag says it. */
export function modeOfEnvironment(env: NodeJS.ProcessEnv): OutputMode {
  const text = env['SVC_OUTPUT'] || 'table'
  const mode = OUTPUT_MODES.find((known) => known === text)
  if (mode === undefined)
    throw usageError(
      `SVC_OUTPUT: "${text}" is none of ${OUTPUT_MODES.join(', ')}`,
      'where it comes from: svc config show --set -o table\nSVC_OUTPUT=table, or unset SVC_OUTPUT',
    )
  return mode
}

/** The members that `--json` keeps; undefined for all of them. */
export function fieldsOf(json: true | string | undefined): string[] | undefined {
  if (json === undefined || json === true || json === '') return undefined
  const fields = json.split(',').map((field) => field.trim())
  if (fields.includes('')) throw usageError(`--json: "${json}" has a member without a name`, '--json=payment_id,status')
  return fields
}
