import { z } from 'zod'
import { IDENTITY_KINDS } from '../../service/up/plan.ts'
import { quoted } from '../../base/command-hints.ts'
import type { Case } from '../read/read-case.ts'

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

/**
 * The command that plays one case again, with the same ids where the user gave a seed. A built-in's label is its name,
 * which is what the command takes.
 */
export function rerunOf(options: RunOptions): (scenario: Case) => string {
  const flags = [
    ...options.var.flatMap((word) => ['--var', quoted(withoutSecret(word))]),
    ...(options.allowExec ? ['--allow-exec'] : []),
    ...(options.ephemeral ? ['--ephemeral'] : []),
    ...(options.idp === undefined ? [] : ['--idp', options.idp]),
    ...(options.authUrl === undefined ? [] : ['--auth-url', quoted(options.authUrl)]),
  ]
  return ({ file, number }) =>
    [
      'svc',
      'run',
      quoted(file),
      '--only',
      String(number),
      ...(options.seed === undefined ? [] : ['--seed', options.seed]),
      ...flags,
    ].join(' ')
}

const SECRET_NAME = /secret|token|password|credential|api_?key/i

/** Reports land in logs: what a variable's name calls a secret is for the reader to fill in. */
function withoutSecret(word: string): string {
  const [name = ''] = word.split('=', 1)
  return SECRET_NAME.test(name) ? `${name}=***` : word
}
