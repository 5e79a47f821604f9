import { quoted } from '../../base/command-hints.ts'
import type { Case } from '../read/read-case.ts'
import type { RunOptions } from './run-options.ts'

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
