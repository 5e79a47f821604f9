import type { Operation } from '../../src/wire/operation.ts'
import type { Chosen } from './auth/credentials.ts'
import type { FailedCall } from './error-context.ts'

/** Where nobody has said who pays: the address of the examples. */
export const PAYER_LINK = 'with your own address: svc payer link ada@example.org'

export function loginFor({ access }: Operation): string {
  if (access.includes('payer')) return PAYER_LINK
  if (access.includes('customer')) return 'svc login --customer'
  return access.includes('merchant') ? 'svc login --realm <realm>' : 'svc login --platform'
}

/** Why nobody believes what proves the caller depends on where it came from. */
export function notAccepted({ who, operation }: FailedCall): string {
  const { chosen } = who
  // Whoever else is signed in has no part in what a payer asks.
  if (operation.access.includes('payer')) return PAYER_LINK
  if (operation.access.includes('customer') && isNamed(who)) return otherCustomer(chosen)
  switch (chosen?.by) {
    case 'SVC_TOKEN':
      return 'a new token in SVC_TOKEN, which svc token prints; or unset SVC_TOKEN'
    case 'SVC_CLIENT_ID':
    case '--client-id':
      return `check ${chosen.by} and SVC_CLIENT_SECRET, the secret of ${chosen.name ?? 'the client'}; people sign in with ${loginFor(operation)}`
    case 'profile':
      return `svc login --profile ${chosen.name ?? ''}`
    default:
      return loginFor(operation)
  }
}

/** Whether the customer was given by name, as where nobody has to prove anything. */
function isNamed({ customer, chosen }: FailedCall['who']): boolean {
  return chosen?.by !== 'SVC_TOKEN' && customer !== undefined && customer.clientId === undefined
}

/** The name is none of a customer's; or there is somebody to sign in with after all, where nothing has said so. */
function otherCustomer(chosen: Chosen | undefined): string {
  const list = 'which customers there are: svc sandbox accounts'
  return chosen === undefined ? `${list}\nwith an identity provider: svc login --customer` : list
}

/** The identity is of the wrong kind: what chose it has to choose another. */
export function otherRealm({ by, name }: Chosen, operation: Operation): { message: string; hint: string } | undefined {
  if (by === 'dev' || by === 'profile') return undefined
  const { access } = operation
  const needed = access.includes('customer') ? 'a customer' : access.includes('merchant') ? 'a merchant' : 'an operator'
  const who = name ?? 'whom it names'
  if (by === '--client-id')
    return {
      message: `--client-id says that you act as ${who}; this needs ${needed}`,
      hint: `the same command without --client-id, or ${loginFor(operation)}`,
    }
  return {
    message: `${by} is set: you act as ${who}; this needs ${needed}`,
    hint: `unset ${by}; where ${needed} is not signed in then, ${loginFor(operation)}`,
  }
}

/** A program has no e-mail address: its role is that of its client, and stays. */
export function otherRole({ who: { chosen }, operation }: FailedCall): string {
  const isClient = chosen?.by === '--client-id' || chosen?.by === 'SVC_CLIENT_ID'
  const way = operation.access.includes('merchant')
    ? isClient
      ? 'as an ADMIN, another client: svc credentials create --name <name> --role <role>'
      : 'as an ADMIN: svc team role <email> <role>'
    : isClient
      ? 'as an OWNER, another client: svc credentials create --platform --name <name> --role <role> --reason "..."'
      : 'as an OWNER: svc staff role <email> <role> --reason "..."'
  return `what your role allows: svc whoami\n${way}`
}
