import { userInfo } from 'node:os'
import { usageError } from '../base/errors.ts'
import type { Io } from '../base/io.ts'

const OPERATOR_NAME = /^[\x21-\x7e]{1,64}$/

/** The operator's name for operations of the platform: the environment, then who is signed in to this machine. */
export function platformUser({ env }: Pick<Io, 'env'>, named?: string): string {
  const name = named ?? (env['SVC_PLATFORM_USER'] || systemUser())
  if (OPERATOR_NAME.test(name)) return name
  throw usageError(
    `SVC_PLATFORM_USER: invalid name "${name}": use 1 to 64 letters, digits and punctuation marks, without spaces`,
    'SVC_PLATFORM_USER=ada',
  )
}

function systemUser(): string {
  try {
    const { username } = userInfo()
    return OPERATOR_NAME.test(username) ? username : 'operator'
  } catch {
    // A container may run under a number that has no name.
    return 'operator'
  }
}
