import { BankConnection, BankTest } from '../../src/wire/bank-connections.ts'
import type { SoftwareStatement, registerAtBank } from '../../src/wire/bank-connections.ts'
import { dayOf, minuteOf, shortTime } from '../base/text.ts'
import type { ReplyBody } from '../kit/action.ts'
import type { Context } from '../kit/context.ts'
import type { Column } from '../output/table.ts'

export const BANK_COLUMNS: readonly Column<BankConnection>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name, least: 8 },
  { title: 'version', value: versionsOf },
  { title: 'client id', value: ({ client_id: clientId }) => clientId ?? 'not registered', least: 8 },
  { title: 'proven', value: provenOf, style: (text) => (text === 'proven' ? 'green' : undefined) },
  {
    title: 'state',
    value: ({ available }) => (available ? 'available' : 'unavailable'),
    style: (text) => (text === 'available' ? undefined : 'red'),
  },
]

function versionsOf({ payments_version: payments, vrp_version: vrp }: BankConnection): string {
  return vrp === null ? payments : `${payments}, mandates ${vrp}`
}

/** What a test here has shown: a profile that only repeats what is published is unproven. */
function provenOf({ is_proven: isProven, last_test: last }: BankConnection): string {
  if (last?.passed === false) return 'test failed'
  return isProven ? 'proven' : 'unproven'
}

export function printBanks(context: Context, items: readonly BankConnection[]): void {
  context.print.list(items, {
    fields: BankConnection,
    columns: BANK_COLUMNS,
    empty: 'No bank is configured. SVC_BANK_PROFILES names the file: svc docs going-live-uk',
  })
}

const REGISTRATION_COLUMNS: readonly Column<BankConnection>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'client id', value: ({ client_id: clientId }) => clientId ?? '' },
  { title: 'registration', value: ({ registration }) => registration },
  { title: 'registered', value: ({ registered_at: at }) => (at === null ? '' : shortTime(at)), short: minuteOf },
  { title: 'by', value: ({ registered_by: by }) => by ?? '', least: 8 },
]

export function printRegistrations(context: Context, items: readonly BankConnection[]): void {
  context.print.list(items, {
    fields: BankConnection,
    columns: REGISTRATION_COLUMNS,
    empty: 'The platform is registered at no bank. To register: svc banks connect <bank> --reason "..."',
  })
}

export function printRegistration(context: Context, reply: ReplyBody<typeof registerAtBank>): void {
  context.print.record(
    reply,
    [
      ['Bank', reply.bank_id],
      ['Client id', reply.client_id],
      ...Object.entries(reply.sent).map(([name, value]): [string, string] => [
        `Sent ${name}`,
        Array.isArray(value) ? value.join(' ') : String(value),
      ]),
    ],
    { id: reply.client_id },
  )
}

export function printTest(context: Context, test: BankTest): void {
  context.print.list(test.steps, {
    fields: BankTest.shape.steps.element,
    columns: [
      { title: 'step', value: ({ step }) => step },
      {
        title: 'result',
        value: ({ passed }) => (passed ? '✓' : '✗'),
        style: (text) => (text === '✓' ? 'green' : 'red'),
      },
      { title: 'detail', value: ({ detail }) => detail, least: 20 },
    ],
    empty: 'No step was tried.',
  })
}

export function printStatement(context: Context, statement: SoftwareStatement): void {
  const { software_id: id, ssa_ends_at: ssaEndsAt, set_by: setBy, set_at: setAt } = statement
  context.print.record(statement, [
    ['Software', id],
    ['Organisation', statement.org_id],
    ['Signing key', statement.signing_kid],
    ['Certificate ends', dayOf(statement.certificate_ends_at)],
    ['Assertion ends', ssaEndsAt === null ? 'never' : dayOf(ssaEndsAt)],
    ['Returns to', statement.redirect_uris.join(' ')],
    ['Kept in', statement.source === 'file' ? 'the file of SVC_BANK_SOFTWARE_STATEMENT' : 'the database, sealed'],
    ...(setBy === null || setAt === null ? [] : [['Set', `${shortTime(setAt)} by ${setBy}`] as [string, string]]),
  ])
}
