import type { Access, Operation } from '../../../src/wire/operation.ts'
import { CliError } from '../../base/errors.ts'
import type { FoundService } from '../find-service.ts'
import { readUserConfig } from './profiles.ts'
import type { ProfileKind } from './profiles.ts'

export function kindsOf(asked: readonly Access[]): ProfileKind[] {
  const platform = asked.includes('platform') || asked.includes('sandbox')
  return [
    ...(asked.includes('merchant') ? (['merchant'] as const) : []),
    ...(platform ? (['platform'] as const) : []),
    ...(asked.includes('customer') ? (['customer'] as const) : []),
  ]
}

const KINDS: Readonly<Record<ProfileKind, { whose: string; who: string; login: string }>> = {
  merchant: { whose: "a merchant's", who: 'a merchant', login: '--realm <realm>' },
  platform: { whose: "an operator's", who: 'an operator', login: '--platform' },
  customer: { whose: "a customer's", who: 'a customer', login: '--customer' },
}

export type OperationAccess = Pick<Operation, 'access'>

/** A profile is of one kind, and signing in to it again would change nothing about that: exit code 4. */
export function otherKind(
  { name, settings }: NonNullable<FoundService['profile']>,
  { asked, configDir }: { asked: OperationAccess; configDir: string },
): CliError {
  const [needed = 'merchant'] = kindsOf(asked.access)
  const { api_url: apiUrl } = settings
  const known = Object.entries(readUserConfig(configDir).profiles).find(
    ([, other]) => other.api_url === apiUrl && other.kind === needed,
  )
  const { whose } = KINDS[settings.kind]
  return new CliError('NOT_SIGNED_IN', `the profile ${name} is ${whose}, and this needs ${KINDS[needed].who}`, {
    hint:
      known === undefined
        ? `svc login --api-url ${apiUrl} ${KINDS[needed].login}`
        : `the same command with --profile ${known[0]}, or svc profile use ${known[0]}`,
  })
}
