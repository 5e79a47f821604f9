import '../../support/tsx.ts'
import t from 'tap'
import type { Test } from 'tap'
import type { PlatformRole } from '../../../src/lib/permissions.ts'
import type { ListedMerchant } from '../../../src/wire/admin.ts'
import { laidTable } from '../../../cli/console/table-lines.ts'
import { lineWidth, plainOf } from '../../../cli/console/lines.ts'
import { detailLines } from '../../../cli/console/record-lines.ts'
import { usableKeys } from '../../../cli/console/model/allowed.ts'
import { createPayment, testService } from '../../support/app.ts'
import { plantHalfMade } from '../../support/registrations.ts'
import { openConsole } from '../../support/terminal.ts'
import type { Opened } from '../../support/terminal.ts'
import { whoOf } from './who.ts'

/* The merchants screen: plainly, and in a terminal on a service with real tokens. */

const { kyb, merchants, queryOf } = await import('../../../cli/console/screens/merchants.ts')
const { rowOf } = await import('../../../cli/console/screens/merchant-detail.ts')

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const MERCHANT: ListedMerchant = {
  id: '019aa000-0000-7000-8000-000000000001',
  client_id: 'acme-ltd-server',
  legal_name: 'Acme Trading Limited',
  trading_name: 'Acme \u001b[31m& Sons of a very long name',
  name: 'Acme',
  kyb_status: 'APPROVED',
  fee_percentage: '0.0125',
  fee_flat: '0.20',
  currencies: ['GBP', 'EUR'],
  payment_amount_max: '1000000.00',
  settlement_schedule: 'DAILY',
  webhook_url: null,
  is_active: false,
  realm_slug: 'acme-ltd',
  admin_email: 'ada@acme.example',
  payout_held: true,
  payout_held_at: '2026-11-22T10:00:00.000Z',
  payout_held_by: 'ops@svc.example',
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-22T10:00:00.000Z',
  recent_deliveries: { delivered: 48, dead: 2 },
}
const HALF_MADE = {
  slug: 'half-made',
  status: 'PROVISIONING' as const,
  company_name: 'Half Made Ltd',
  trading_name: 'Half Made',
  admin_email: 'eve@half.example',
  merchant_id: null,
  warnings: [],
  failure: null,
  invited_at: null,
  created_at: '2026-11-22T11:00:00.000Z',
  problems: ['half-made', 'not invited'],
}
const ROWS = [
  rowOf(null, { registration: HALF_MADE, dead: 0 }),
  rowOf(MERCHANT, { registration: null, dead: 7 }),
] as const

function keysOf(role: PlatformRole, row: (typeof ROWS)[number], readonly = false): string[] {
  const rights = { who: whoOf(role), readonly, sandbox: true }
  return usableKeys(merchants, rights, { on: 'list', row }).map(({ key, label }) => `${key} ${label}`)
}

t.test('what operators did to a merchant is in the queue once', (t) => {
  const action = { ordinal: '1', action: 'merchant.kyb', role: 'OWNER', actor: 'ada', reason: null, created_at: '' }
  const row = rowOf(MERCHANT, { registration: null, dead: 0 })
  const whole = { row, actions: [action] }
  const layout = { width: 100, who: whoOf('OWNER'), kept: {}, now: NOW, wide: false }
  const lines = detailLines(kyb.detail ?? {}, { row, whole }, layout).map(plainOf)
  t.equal(lines.filter((text) => text.includes('merchant.kyb')).length, 1, lines.join('\n'))
  t.end()
})

t.test('the table fits 60, 80 and 140 columns, and says what is wrong with whom', async (t) => {
  const texts = [60, 80, 140].map((width) => {
    const layout = { width, who: whoOf('OWNER'), kept: {}, now: NOW, wide: false }
    const laid = laidTable(ROWS, merchants.columns(layout), { width })
    const lines = [laid.header, ...ROWS.map((_, index) => laid.row(index))]
    t.ok(
      lines.every((each) => lineWidth(each) <= width),
      `${width} columns`,
    )
    return lines.map(plainOf).join('\n')
  })
  for (const text of texts) {
    t.match(text, /NAME +REALM +KYB +STOPPED +DEAD/)
    t.match(text, /Half Made +half-made +PROVISION/)
    t.match(text, /acme-ltd +APPROVED +held, off +7/)
    t.notMatch(text, '\u001b', 'a name does not drive the terminal')
  }
  for (const text of texts.slice(1)) t.match(text, /DEAD +DELIVERED[^]* 7 +96%/)
  t.match(texts.at(-1), /half-made; not/)
  t.match(texts.at(-1), /1\.25% \+ 0\.20/)
})

t.test('keys are those of the role and of the row', async (t) => {
  const [registration, merchant] = ROWS
  t.same(keysOf('SUPPORT', merchant), ['P payments', 'd details'], 'SUPPORT changes nothing')
  t.same(keysOf('OPS', merchant), ['h release', 'E enable', 's suspend', 'P payments', 'd details', 'n register'])
  t.same(keysOf('OWNER', merchant), [
    'h release',
    'f fees',
    'l limits',
    'E enable',
    's suspend',
    'P payments',
    'd details',
    'n register',
  ])
  t.same(keysOf('OWNER', merchant, true), ['P payments', 'd details'])
  t.same(keysOf('OPS', registration), ['r repair', 'd details', 'n register'])
  const commands = merchants.keys
    .filter((key) => key.fits?.(merchant) !== false)
    .map((key) => key.command(merchant, { reason: "it's over", percentage: '1%', flat: '0.50' }, whoOf('OWNER')))
  t.same(commands, [
    "svc hold release acme-ltd --reason 'it'\\''s over'",
    "svc merchants fees set acme-ltd --percentage 1% --flat 0.50 --reason 'it'\\''s over'",
    "svc merchants limits set acme-ltd --reason 'it'\\''s over'",
    "svc merchants enable acme-ltd --reason 'it'\\''s over'",
    "svc kyb suspend acme-ltd --reason 'it'\\''s over'",
    'svc payments list --merchant acme-ltd',
    'svc merchants show acme-ltd',
    'svc register --company ... --trading-name ... --email ...',
  ])
  const repairs = merchants.keys.filter(({ key }) => key === 'r')
  t.same(
    repairs.flatMap((key) =>
      [{}, { rollback: 'yes' }].map((given) => key.command(registration, given, whoOf('OWNER'))),
    ),
    ['svc merchants repair half-made', 'svc merchants repair half-made --rollback'],
  )
})

t.test('a filter becomes what the service can look for', async (t) => {
  t.same(queryOf(''), {})
  t.same(queryOf('acme ltd'), { search: 'acme ltd' })
  t.same(queryOf('pending held acme'), { kyb_status: 'PENDING', payout_held: 'true', search: 'acme' })
  t.same(queryOf('disabled'), { is_active: 'false' })
  t.same(queryOf('ada@acme.example'), {}, 'addresses are looked for in what is here')
  t.same(queryOf('019aa000-0000'), {})
})

t.test('in a terminal', async (t) => {
  const service = await testService(t, { worker: true, env: { SVC_IDENTITY: 'embedded' } })
  const merchant = await service.merchant()
  await createPayment(service, merchant, { amount: '12.34' })
  const tokenOf = async (role: PlatformRole): Promise<string> =>
    ((await service.operator(role))['authorization'] ?? '').replace('Bearer ', '')
  const [owner, support] = [await tokenOf('OWNER'), await tokenOf('SUPPORT')]
  const opened = (test: Test, token: string, size: { columns?: number; rows?: number } = {}): Opened =>
    openConsole(test, { url: service.url, env: { SVC_TOKEN: token }, words: ['--screen', 'merchants'], ...size })
  const rowOfMerchant = async () =>
    (
      await service.owner.query('select payout_held, is_active, fee_percentage from merchants where id = $1', [
        merchant.id,
      ])
    ).rows[0]

  await t.test('payouts are held and released, and fees are set', async (t) => {
    const console = opened(t, owner)
    await console.until(/Acme +m-/)
    console.shot('merchants-80x24')
    console.press('h')
    await console.until(/hold Acme/)
    console.press('enter')
    await console.until(/is required/)
    console.type('odd refunds')
    await console.until(new RegExp(`svc hold set ${merchant.realm} --reason 'odd refunds'`))
    console.press('enter')
    await console.until(/Enter will hold Acme: its payouts are held, and it can create no payments/)
    console.shot('merchants-hold-80x24')
    console.press('enter')
    await console.until(/Done: held the payouts of Acme/)
    await console.until(/APPROVED +held/)
    t.match(await rowOfMerchant(), { payout_held: true })
    console.press('/')
    console.type('held')
    console.press('enter')
    await console.until(/Merchants 1\/1 +filter: held/)
    await console.until(/Acme +m-/)
    console.press('/', 'ctrl-u')
    console.type('pending')
    console.press('enter')
    await console.until(/Nothing fits "pending"/)
    console.press('esc')
    await console.until(/APPROVED +held/)
    console.press('h')
    await console.until(/release Acme/)
    console.type('explained')
    console.press('enter')
    await console.until(/Done: released/)
    console.press('f')
    await console.until(/Share of the amount/)
    console.press(...Array.from({ length: 4 }, () => 'backspace'))
    console.type('120%')
    console.press('enter')
    await console.until(/Share of the amount: "120%" is neither a share below 100%/)
    t.notMatch(console.text(), /For each payment:|--percentage:/, 'it is told at its own field, and by its name')
    console.shot('merchants-fees-refused-80x24')
    console.press('esc')
    await console.until(/nothing was changed/)
    console.press('f')
    await console.until(/Share of the amount/)
    console.press(...Array.from({ length: 4 }, () => 'backspace'))
    console.type('1.5%')
    console.press('enter', 'enter')
    console.type('contract')
    console.press('enter')
    await console.until(/Enter will charge Acme 1\.5% and 0\.20 for each payment from now on/)
    console.press('enter')
    await console.until(/Acme pays 1\.5% \+ 0\.20/)
    t.match(await rowOfMerchant(), { payout_held: false, fee_percentage: '0.0150' })
    console.press('d')
    await console.until(/Client id +/)
    console.shot('merchant-80x24')
    console.press('G')
    await console.until(/merchant\.fees/)
    console.resize(140, 40)
    await console.until(/1 Overview/)
    await console.until(/merchant\.fees/)
    console.shot('merchant-140x40')
    console.press('P')
    await console.until(/Payments 1\/1 +filter: merchant:/)
    console.press('esc', 'esc')
    await console.until(/Merchants/)
    console.press('ctrl-c')
    t.match(await console.ended(), { code: 0, isPlain: true })
  })

  await t.test('a half-made registration stands first, and is rolled back', async (t) => {
    await plantHalfMade(service.owner, { slug: 'half-made' })
    const console = opened(t, owner, { columns: 60, rows: 16 })
    await console.until(/half-made +PROVIS/)
    console.shot('merchants-60x16')
    console.press('enter')
    await console.until(/Incomplete/)
    console.shot('registration-60x16')
    console.press('esc')
    await console.until(/Merchants 1/)
    console.press('g', 'r')
    await console.until(/repair half-made/)
    console.press('down')
    await console.until(/svc merchants repair half-made --rollback/)
    console.press('enter', 'enter', 'enter')
    await console.until(/Enter will take the realm half-made away/)
    console.press('enter')
    await console.until(/Done: half-made:/)
    await console.until((text) => !/half-made +PROVIS/.test(text))
    const { rows } = await service.owner.query("select status from registration where slug = 'half-made'")
    t.same(rows, [{ status: 'FAILED' }])
    console.press('n')
    await console.until(/register a merchant/)
    console.type('Tide Ltd\rTide\rno address\r')
    await console.until(/admin_email/)
    console.press('ctrl-u')
    console.type('tia@tide.example\r')
    const shown = await console.until(/Registered Tide/)
    t.match(shown, /Realm: tide-ltd[^]*Client secret:[^]*[\w-]{20}/)
    console.shot('registered-60x16')
    console.press('G')
    await console.until(/shown this once/)
    console.press('esc')
    await console.until(/Done: registered Tide/)
    await console.until(/Tide +tide-ltd +PENDING/)
    console.press('ctrl-c')
    await console.ended()
  })

  await t.test('SUPPORT looks, and sees no key that changes anything', async (t) => {
    const console = opened(t, support, { columns: 140, rows: 40 })
    await console.until(/Acme +m-/)
    console.shot('merchants-140x40')
    console.press('j')
    await console.until(/P payments/)
    t.notMatch(console.screen().at(-1), /hold|fees|disable|suspend/)
    console.press('h', 'E', 'f', 'd')
    await console.until(/Client id +/)
    t.notMatch(console.text(), /Audit|People/, 'the trail and the staff are for the OWNER')
    console.press('ctrl-c')
    await console.ended()
    t.match(await rowOfMerchant(), { payout_held: false, is_active: true })
  })
})
