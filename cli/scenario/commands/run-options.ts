import { quoted } from '../../base/command-hints.ts'
import type { Flags } from '../../kit/action.ts'
import type { Input } from '../../kit/command.ts'
import { matching } from '../../kit/read-values.ts'
import { IDENTITY_KINDS } from '../../service/up/plan.ts'
import type { Case } from '../read/read-case.ts'

/** The scenarios that a command reads. */
export const FILES = {
  scenarios: {
    value: 'scenarios',
    summary: 'Files, folders, or names of built-in scenarios',
    positional: true,
    required: true,
    several: true,
  },
} as const satisfies Flags

export const RUN_FLAGS = {
  only: { value: 'case', summary: 'Run only this case: its number, or part of its name' },
  tag: { value: 'tag', summary: 'Run only cases with this tag; may be repeated', repeats: true },
  bail: { summary: 'Stop after the first failed case' },
  parallel: {
    value: 'count',
    summary: 'Number of cases that run at once, 1 to 32',
    initial: '1',
    read: matching(/^([1-9]|[12]\d|3[0-2])$/, 'must be 1 to 32'),
  },
  var: { value: 'name=value', summary: "Variable; overrides the file's value; may be repeated", repeats: true },
  timeout: { value: 'duration', summary: 'Maximum time for each case', initial: '60s' },
  seed: {
    value: 'text',
    summary: 'Seed of random values and case order; with --ephemeral also of ids',
    read: matching(/^[\w.:-]{1,64}$/, 'must be 1 to 64 letters, digits, or any of . : _ -'),
  },
  allowExec: { summary: 'Allow exec steps to run commands; only for files that you trust' },
  keep: { summary: 'Print the ids of created objects; with --ephemeral, keep its data' },
  ephemeral: { summary: 'Start a temporary service for this run' },
  idp: { value: 'kind', summary: 'Its identity provider (embedded); none trusts headers', choices: IDENTITY_KINDS },
  authUrl: { value: 'url', summary: 'Address of Keycloak for --idp keycloak (SVC_AUTH_URL)' },
  reporter: {
    value: 'form',
    summary: 'Format: pretty, tap, junit or json, or with a file: junit=out.xml',
    repeats: true,
  },
} as const satisfies Flags
export type RunOptions = Input<typeof RUN_FLAGS>

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
