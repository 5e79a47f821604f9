import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CONSENT_TRANSITIONS } from '../src/consents/states.ts'
import { DISPUTE_TRANSITIONS } from '../src/disputes/states.ts'
import { ERROR_STATUS } from '../src/http/error-status.ts'
import { ROUTES, SANDBOX_ROUTES } from '../src/http/routes.ts'
import { ORDER_STATUS_ISO } from '../src/instructions/orders/states.ts'
import { PLAIN_SCENARIOS, SCENARIO_PARAMETERS } from '../src/lib/bank-scenarios.ts'
import { failureOf, isFailureCode } from '../src/lib/failure-codes.ts'
import { packageRoot } from '../src/lib/package-root.ts'
import { NO_ROLE, roleAllows } from '../src/lib/permissions.ts'
import type { Permission, Role } from '../src/lib/permissions.ts'
import { KYB_TRANSITIONS } from '../src/merchants/states.ts'
import { PAYMENT_TRANSITIONS } from '../src/payments/states.ts'
import { PAYOUT_TRANSITIONS } from '../src/payouts/states.ts'
import { DELIVERY_TRANSITIONS } from '../src/webhooks/states.ts'
import { EventType } from '../src/wire/webhook-events.ts'

const CONTRACT = readFileSync(join(packageRoot(), 'docs/contract.md'), 'utf8')

/** The rows of the tables below a heading, without their heads. */
function rowsBelow(heading: string): string[][] {
  const [, after = ''] = CONTRACT.split(new RegExp(`^#+ ${heading}$`, 'm'))
  const [section = ''] = after.split(/^#/m)
  return section
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('| ---'))
    .slice(1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

type Move = { from: string | null; to: string }

/** The moves of a table `From | When | To`, where a cell may name several statuses. */
function movesBelow(heading: string): string[] {
  const statuses = (cell: string) => cell.match(/\(none\)|\b[A-Z][A-Za-z_]{3,}\b/g) ?? []
  return unique(
    rowsBelow(heading).flatMap(([from = '', , to = '']) =>
      statuses(from.replace(/, mandate only$/, '')).flatMap((start) =>
        statuses(to.replace(/, `next_retry_at`.*|, `attempt_count`.*/, '')).map((end) => `${start} > ${end}`),
      ),
    ),
  )
}

function movesOf(rows: readonly Move[]): string[] {
  return unique(rows.map(({ from, to }) => `${from ?? '(none)'} > ${to}`))
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)].toSorted()
}

t.test('the contract names what a disabled merchant may call that changes something, and no more', async (t) => {
  const open = [...ROUTES, ...SANDBOX_ROUTES].filter(({ operation }) => operation.evenIfInactive === true)
  t.strictSame(
    rowsBelow('Disabled merchants')
      .flatMap(([cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name))
      .toSorted(),
    open.map(({ operation }) => operation.name).toSorted(),
  )
})

t.test('the contract has the moves of each state machine, and no other', async (t) => {
  t.same(movesBelow('Payment status'), movesOf(PAYMENT_TRANSITIONS))
  t.same(movesBelow('Consent status'), movesOf(CONSENT_TRANSITIONS))
  t.same(movesBelow('KYB status'), movesOf(KYB_TRANSITIONS))
  t.same(movesBelow('Dispute status'), movesOf(DISPUTE_TRANSITIONS))
  t.same(movesBelow('Payout status'), movesOf(PAYOUT_TRANSITIONS))
  // A delivery that fails again stays FAILED, which the table says in one row with the first failure.
  t.same(movesBelow('Webhook delivery status'), movesOf(DELIVERY_TRANSITIONS))
})

t.test('the contract names the webhook of each move of a payment', async (t) => {
  const written = rowsBelow('Payment status').flatMap(([, , to = '', , webhook = '']) => [`${to}: ${webhook}`])
  t.same(unique(written), unique(PAYMENT_TRANSITIONS.map(({ to, webhook }) => `${to}: ${webhook ?? 'none'}`)))
})

t.test(
  "the contract has the failure codes with their ISO codes and sources, and the orders' ISO statuses",
  async (t) => {
    const rows = rowsBelow('Failure codes').map(([code = '', iso, source = '']) => [code, iso, source.split(';')[0]])
    t.ok(rows.length > 0)
    t.same(
      rows,
      rows.map(([code = '']) => (isFailureCode(code) ? [code, failureOf(code).iso_code, failureOf(code).source] : [])),
    )
    t.same(
      Object.fromEntries(rowsBelow('Payment order status').map(([status, iso]) => [status, iso])),
      ORDER_STATUS_ISO,
    )
  },
)

t.test('the contract has every webhook event and every scenario of the mock bank', async (t) => {
  const events = rowsBelow('Webhook events').flatMap(([name = '']) => (/^[a-z_]+\.[a-z_]+$/.test(name) ? [name] : []))
  t.same(unique(events), unique(EventType.options))
  const scenarios = rowsBelow('Sandbox scenarios').flatMap(
    ([names = '']) => names.match(/(?<=`)[a-z-]+(?=[`:])/g) ?? [],
  )
  t.same(unique(scenarios), unique([...PLAIN_SCENARIOS, ...Object.keys(SCENARIO_PARAMETERS)]))
})

t.test('the contract names the path of every operation', async (t) => {
  const paths = [...ROUTES, ...SANDBOX_ROUTES].map(({ operation }) => operation.path)
  const missing = unique(paths).filter(
    (path) => !CONTRACT.includes(`${path.replace(/^\/(?:api|open-banking)\/v1/, '')}\``),
  )
  t.same(missing, [])
})

/** The permissions that a row of a role table is about, by the beginning of the row. */
const ROLE_ROWS: readonly {
  heading: string
  row: string
  roles: readonly Role[]
  permissions: readonly Permission[]
}[] = [
  ...(
    [
      ['read payments', ['read payments']],
      ['create and cancel', ['create payments']],
      ['refund;', ['refund payments']],
      ['read balances and bank accounts', ['read balances', 'read bank accounts']],
      ['close and schedule settlements', ['manage settlements']],
      ['webhook address', ['manage webhooks', 'manage signing secret', 'manage checkout', 'read branding']],
      ['team, credentials', ['manage team', 'manage credentials', 'manage branding', 'manage bank accounts']],
    ] as const
  ).map(([row, permissions]) => ({
    heading: 'Team roles',
    row,
    roles: ['ADMIN', 'DEVELOPER', 'FINANCE', NO_ROLE] as const,
    permissions,
  })),
  ...(
    [
      ['read merchants', ['read merchants']],
      ['KYB, hold', ['operate merchants', 'operate sandbox']],
      ['resolve ESCALATED', ['administer platform']],
    ] as const
  ).map(([row, permissions]) => ({
    heading: 'Platform administration',
    row,
    roles: ['OWNER', 'OPS', 'SUPPORT'] as const,
    permissions,
  })),
]

t.test('the cells of the role tables are those of the permissions', async (t) => {
  for (const { heading, row, roles, permissions } of ROLE_ROWS) {
    const [, ...cells] = rowsBelow(heading).find(([first = '']) => first.startsWith(row)) ?? []
    for (const permission of permissions) {
      const allowed = roles.map((role) => (roleAllows(role, permission) ? 'yes' : 'no'))
      t.same(
        cells.map((cell) => cell.split(',')[0]),
        allowed,
        `${heading}: ${permission}`,
      )
    }
  }
  const rows = unique(ROLE_ROWS.map(({ heading }) => heading)).flatMap((heading) => rowsBelow(heading))
  t.equal(rows.length, ROLE_ROWS.length, 'no other row')
})

t.test('the contract names error codes with their status', async (t) => {
  const statuses: Readonly<Record<string, number>> = ERROR_STATUS
  const named = [...CONTRACT.matchAll(/\b(\d{3}) `([A-Z]+_[A-Z_]+)`/g)].map(([, status, code = '']) => [
    code,
    Number(status),
  ])
  t.ok(named.length > 25)
  t.same(
    named,
    named.map(([code = '']) => [code, statuses[code]]),
  )
})
