import '../../support/tsx.ts'
import t from 'tap'
import { permissionsOf } from '../../../src/lib/permissions.ts'
import type { Who } from '../../../cli/client/auth/acting-side.ts'
import { laidTable } from '../../../cli/console/table-lines.ts'
import { lineWidth, plainOf } from '../../../cli/console/lines.ts'
import { shownScreens, usableKeys } from '../../../cli/console/model/allowed.ts'
import type { PaymentRow } from '../../../cli/console/screens/payments.ts'

/* The sandbox screen without a terminal: its tables, its keys and their commands. */

const { caseLines, sandbox } = await import('../../../cli/console/screens/sandbox.ts')

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const ROW = {
  payment_id: '019aa000-0000-7000-8000-0000000000ab',
  status: 'AwaitingAuthorisation',
  gross_amount: '50.00',
  currency: 'GBP',
  merchant_id: '019aa000-0000-7000-8000-000000000001',
  realm_slug: 'acme-ltd',
  payer_name: 'Eve \u001b[2J',
  remittance_reference: 'order 7',
  expires_at: '2026-11-22T12:10:00.000Z',
  created_at: '2026-11-22T11:55:00.000Z',
} as PaymentRow

const PERSON = { realm: null, client_id: null, subject: 'ada', name: 'ada', expires_at: null }
const OPS: Who = { ...PERSON, kind: 'platform', role: 'OPS', permissions: permissionsOf('OPS'), merchant: null }
const SUPPORT: Who = { ...OPS, role: 'SUPPORT', permissions: permissionsOf('SUPPORT') }
const ADMIN: Who = {
  ...PERSON,
  kind: 'merchant',
  role: 'ADMIN',
  permissions: permissionsOf('ADMIN'),
  merchant: {
    id: '019aa000-0000-7000-8000-000000000001',
    trading_name: 'Acme',
    kyb_status: 'APPROVED',
    is_active: true,
  },
}
/** As who has the operator's login of the sandbox as well. */
const OWN_SANDBOX: Who = { ...ADMIN, permissions: [...ADMIN.permissions, 'operate sandbox'] }

function keysOf(who: Who, row: PaymentRow | undefined = ROW): string[] {
  return usableKeys(sandbox, { who, readonly: false, sandbox: true }, { on: 'list', row }).map(({ key }) => key)
}

t.test('the queue fits 60, 80 and 140 columns; the clock stands above it', async (t) => {
  for (const width of [60, 80, 140]) {
    const laid = laidTable([ROW], sandbox.columns({ width, who: OPS, kept: {}, now: NOW, wide: false }), { width })
    const lines = [laid.header, laid.row(0)]
    t.ok(
      lines.every((each) => lineWidth(each) <= width),
      `${width} columns`,
    )
    t.match(lines.map(plainOf).join('\n'), /50\.00 +GBP +5 min +in 10 min +acme-ltd +Eve/)
    t.notMatch(lines.map(plainOf).join('\n'), '\u001b')
  }
  const clock = { name: 'Acme', now: '2026-11-23T18:00:00.000Z', aheadMs: 30 * 3_600_000 }
  const layout = { width: 80, who: OPS, kept: {}, now: NOW, wide: false }
  const head = sandbox.head?.([], layout, clock) ?? []
  t.same(head.map(plainOf), [' Clock of Acme  2026-11-23 18:00:00Z, 1 day 6 hours ahead'])
})

t.test('only sandboxes have it, and each role its keys', async (t) => {
  t.same(shownScreens([sandbox], { who: OPS, readonly: false, sandbox: false }), [], 'not where money is real')
  t.same(shownScreens([sandbox], { who: ADMIN, readonly: false, sandbox: true }), [sandbox])
  t.same(keysOf(OPS), ['a', 'c', '+', 's'])
  t.same(keysOf(SUPPORT), [], 'SUPPORT looks')
  t.same(keysOf(ADMIN), ['a', 'c'], 'a merchant decides where its payers do')
  t.same(keysOf(OWN_SANDBOX), ['a', 'c', '+', 's'])
  t.same(keysOf(OPS, { ...ROW, status: 'Settled' }), ['+', 's'], 'nobody waits for what is decided')
})

t.test('each key has its command', async (t) => {
  const given = { by: '11h', scenario: 'refund', merchant: 'acme-ltd' }
  const commandsOf = (who: Who): string[] =>
    sandbox.keys
      .filter((key) => key.for === undefined || key.for === who.kind)
      .map((key) => key.command(ROW, given, who))
  const id = ROW.payment_id
  t.same(commandsOf(OPS), [
    `svc sandbox bank approve ${id}`,
    `svc sandbox bank cancel ${id}`,
    'svc sandbox clock advance 11h --merchant acme-ltd',
    'svc run refund',
  ])
})

t.test('the steps of a story say in words where it is', async (t) => {
  const steps = [1, 2, 3].map((number) => ({ number, label: String(number), title: `step ${number}` }))
  const ended = [{ number: 1, label: '1', title: 'step 1', durationMs: 12.4, status: 'passed' as const }]
  t.same(caseLines({ name: 'A story', steps }, ended), ['A story', 'ok     1 step 1 (12 ms)', '...    2 step 2'])
})
