import * as accounts from '../../../../src/wire/accounts.ts'
import * as admin from '../../../../src/wire/admin.ts'
import * as audit from '../../../../src/wire/audit.ts'
import * as bankAccounts from '../../../../src/wire/bank-accounts.ts'
import * as banks from '../../../../src/wire/banks.ts'
import * as checkout from '../../../../src/wire/checkout.ts'
import * as consents from '../../../../src/wire/consents.ts'
import * as console from '../../../../src/wire/console.ts'
import * as disputes from '../../../../src/wire/disputes.ts'
import * as explain from '../../../../src/wire/explain.ts'
import * as fees from '../../../../src/wire/fees.ts'
import * as ledger from '../../../../src/wire/ledger.ts'
import * as limits from '../../../../src/wire/limits.ts'
import * as mails from '../../../../src/wire/mails.ts'
import * as orders from '../../../../src/wire/orders.ts'
import * as payer from '../../../../src/wire/payer.ts'
import * as paymentRequests from '../../../../src/wire/payment-requests.ts'
import * as payments from '../../../../src/wire/payments.ts'
import * as reconciliation from '../../../../src/wire/reconciliation.ts'
import * as recurring from '../../../../src/wire/recurring.ts'
import * as refunds from '../../../../src/wire/refunds.ts'
import * as registration from '../../../../src/wire/registration.ts'
import * as sandboxBank from '../../../../src/wire/sandbox-bank.ts'
import * as sandboxFaults from '../../../../src/wire/sandbox-faults.ts'
import * as sandbox from '../../../../src/wire/sandbox.ts'
import * as secrets from '../../../../src/wire/secrets.ts'
import * as service from '../../../../src/wire/service.ts'
import * as settlements from '../../../../src/wire/settlements.ts'
import * as settings from '../../../../src/wire/settings.ts'
import * as staff from '../../../../src/wire/staff.ts'
import * as statements from '../../../../src/wire/statements.ts'
import * as team from '../../../../src/wire/team.ts'
import * as transactions from '../../../../src/wire/transactions.ts'
import * as webhooks from '../../../../src/wire/webhooks.ts'
import type { Access, Operation } from '../../../../src/wire/operation.ts'

const MODULES: readonly object[] = [
  accounts,
  admin,
  audit,
  bankAccounts,
  banks,
  checkout,
  consents,
  console,
  disputes,
  explain,
  fees,
  ledger,
  limits,
  mails,
  orders,
  payer,
  paymentRequests,
  payments,
  reconciliation,
  recurring,
  refunds,
  registration,
  sandboxBank,
  sandboxFaults,
  sandbox,
  secrets,
  service,
  settings,
  settlements,
  staff,
  statements,
  team,
  transactions,
  webhooks,
]

/** Every operation of the contract. */
export const OPERATIONS: readonly Operation[] = MODULES.flatMap((module) => Object.values(module).filter(isOperation))

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'access' in value
}

/** The operation of a method and a path; of two that fit, the one with fewer parameters. */
export function findOperation(method: string, pathname: string): Operation | undefined {
  const fitting = OPERATIONS.filter((each) => each.method === method && patternOf(each).test(pathname))
  return fitting.toSorted((a, b) => parametersIn(a) - parametersIn(b))[0]
}

/** The methods by which the contract has the path. */
export function methodsOf(pathname: string): string[] {
  return OPERATIONS.filter((each) => patternOf(each).test(pathname)).map(({ method }) => method)
}

function patternOf({ path }: Operation): RegExp {
  return new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

function parametersIn({ path }: Operation): number {
  return path.split('{').length
}

/** Who may call what this version does not know, by where it stands. */
export function accessByPath(pathname: string): readonly Access[] {
  if (pathname.startsWith('/open-banking/')) return ['customer']
  if (pathname.startsWith('/api/v1/admin/')) return ['platform']
  if (pathname.startsWith('/api/v1/payer/')) return ['payer']
  if (pathname.startsWith('/api/v1/sandbox/')) return ['sandbox']
  return pathname.startsWith('/api/') ? ['merchant'] : ['anyone']
}
