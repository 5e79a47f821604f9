import { z } from 'zod'
import type { VerbTable } from './verb-table.ts'
import { Matcher, Name, Text, Wait } from './parts.ts'

/** A command of the user's own. */
export const Exec = z.strictObject({
  as: Name.optional(),
  /** Words, or one line for the shell. */
  run: z
    .union([z.array(Text).min(1), z.string().min(1)])
    .meta({ examples: [['node', 'test/settled.mjs', '$p1.payment_id'], 'npm test'] }),
  /** Beside SVC_API_URL and the merchant's own SVC_CLIENT_ID, SVC_CLIENT_SECRET, SVC_REALM and SVC_WEBHOOK_SECRET. */
  env: z.record(Text, Text).optional(),
  within: Wait.optional(),
  expect: z
    .strictObject({
      /** 0 where nothing is said. */
      exit: z.int().min(0).max(255).optional(),
      stdout: Matcher.optional(),
      stderr: Matcher.optional(),
      /** What stands in standard output, as JSON. */
      json: Matcher.optional(),
    })
    .optional(),
})

export const EXEC_VERBS = {
  exec: {
    schema: Exec,
    text: 'Runs a command with `SVC_API_URL`, `SVC_CLIENT_ID`, `SVC_CLIENT_SECRET`, `SVC_REALM` and `SVC_WEBHOOK_SECRET` in its environment; only with `--allow-exec`.',
    examples: [
      'exec: { run: [node, check.mjs, $p1.payment_id], expect: { exit: 0 } }',
      'exec: { run: [node, check.mjs, $p1.payment_id], expect: { exit: 0, json: { ok: true } } }',
    ],
    makes: { kind: 'answer', members: ['exit', 'stdout', 'stderr', 'json'] },
  },
} as const satisfies VerbTable
