import '../../support/tsx.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { Client } from '../../../cli/client/call.ts'
import { childOf } from '../../../cli/entry/tree/command-data.ts'
import type { CommandData } from '../../../cli/entry/tree/command-data.ts'
import { readAll } from '../../../cli/entry/tree/command-file.ts'
import { usableKeys } from '../../../cli/console/model/allowed.ts'
import { typedText } from '../../../cli/client/command-texts.ts'
import type { PlatformRole } from '../../../src/lib/permissions.ts'
import { merchantOf } from '../admin-harness.ts'
import { summaryOf } from '../harness.ts'
import { testService } from '../../support/app.ts'
import { openConsole } from '../../support/terminal.ts'
import { whoOf } from './who.ts'

/* What the console does is what was agreed to: to that row as it was, at that service, by that person. */

const { SCREENS } = await import('../../../cli/console/screens.ts')

function typedAs(
  t: Test,
  line: string,
  {
    name,
    by = 'profile',
    config = '',
    env = {},
    flags = {},
  }: Partial<Record<'name' | 'by' | 'config', string>> & {
    env?: object
    flags?: object
  },
): string {
  const configDir = join(t.testdir({}), 'config')
  mkdirSync(configDir, { mode: 0o700 })
  writeFileSync(join(configDir, 'config.yaml'), config, { mode: 0o600 })
  const io = { env: { SVC_CONFIG_DIR: configDir, ...env }, cwd: configDir, calledAs: 'svc' } as never
  const client = { credentials: { chosen: { by, name } } } as unknown as Client
  return typedText(line, { io, flags, client })
}

t.test('the command acts as the console does, in any shell, and names nothing that goes without saying', async (t) => {
  const line = "svc hold set demo --reason 'x'"
  const prod = "svc --profile prod hold set demo --reason 'x'"
  t.equal(typedAs(t, line, { name: 'prod', config: 'profile: demo\n' }), prod)
  t.equal(typedAs(t, line, { name: 'prod' }), prod, 'the built-in one is what a bare command is')
  t.equal(typedAs(t, line, { name: 'prod', config: 'profile: prod\n' }), line)
  const elsewhere = { name: 'prod', config: 'profile: prod\n', env: { SVC_PROFILE: 'demo' } }
  t.equal(typedAs(t, line, elsewhere), prod, 'this shell has another one')
  t.equal(typedAs(t, line, { name: 'prod', env: { SVC_PROFILE: 'prod' } }), prod, 'another shell has not')
  t.equal(typedAs(t, line, { name: 'dev', by: 'dev' }), line)
  t.equal(
    typedAs(t, line, { name: 'dev', by: 'dev', config: 'profile: prod\n' }),
    "svc --profile dev hold set demo --reason 'x'",
  )
  t.equal(typedAs(t, line, { name: 'prod', config: 'profile: [\n' }), prod, 'of a file that is half written')
  const flags = { apiUrl: 'https://pay.example', stateDir: '/srv/state', clientId: 'acme' }
  t.equal(
    typedAs(t, 'svc payments cancel 1', { by: '--client-id', name: 'acme', flags }),
    'svc --client-id acme --api-url https://pay.example --state-dir /srv/state payments cancel 1',
  )
})

const DISPUTE = { id: 'd-1', merchant_id: 'm-1', realm_slug: 'acme', currency: 'GBP', refundable_amount: '5.00' }

t.test('a dispute is resolved only where it can be, and by whom', async (t) => {
  const disputes = SCREENS.find(({ name }) => name === 'disputes')
  if (disputes === undefined) throw new Error('there are disputes')
  const resolveFor = (role: PlatformRole, row: object): string[] =>
    usableKeys(disputes, { who: whoOf(role), readonly: false, sandbox: true }, { on: 'list', row })
      .filter(({ key }) => key === 'r')
      .map(({ label }) => label)
  const at = (status: string, more = {}): object => ({
    ...DISPUTE,
    status,
    refund: null,
    due_at: null,
    escalation_reason: null,
    ...more,
  })
  for (const role of ['OWNER', 'OPS'] as const) {
    t.same(resolveFor(role, at('OPEN')), [], 'the merchant can still answer it')
    t.same(resolveFor(role, at('UNDER_REVIEW')), ['resolve'], 'and there is one key for it')
  }
  t.same(resolveFor('OWNER', at('ESCALATED', { escalation_reason: 'big' })), ['resolve'])
  t.same(resolveFor('OPS', at('ESCALATED', { escalation_reason: 'big' })), [])
  const failed = { refund: { refund_status: 'FAILED' } }
  t.same(resolveFor('OPS', at('RESOLVED_PAYER_FAVOUR', failed)), ['refund again'])
  t.same(resolveFor('OPS', at('RESOLVED_PAYER_FAVOUR', { ...failed, escalation_reason: 'big' })), [])
  t.same(resolveFor('OWNER', at('RESOLVED_PAYER_FAVOUR', { ...failed, escalation_reason: 'big' })), ['refund again'])
  t.same(resolveFor('SUPPORT', at('UNDER_REVIEW')), [])
})

/** Whether a command line asks in live mode: whether it takes --yes. */
function asksIn(command: CommandData, [word = '', ...rest]: string[]): boolean {
  const below = childOf(command, word)
  return below === undefined ? command.options.some(({ flags }) => flags.includes('--yes')) : asksIn(below, rest)
}

t.test('what asks twice in live mode is what the command asks about, and nothing else', async (t) => {
  const map = await readAll()
  const merchant = merchantOf({})
  const rows: Record<string, object> = {
    kyb: { id: merchant.id, merchant, registration: null },
    merchants: { id: merchant.id, merchant, registration: { slug: 'acme', status: 'FAILED', problems: [] } },
    payments: summaryOf('Settled'),
    disputes: { ...DISPUTE, status: 'UNDER_REVIEW', gross_amount: '5.00', reason: 'OTHER' },
    webhooks: { id: 'w-1', merchant_id: 'm-1', realm_slug: 'acme', event_type: 'payment.settled', status: 'DEAD' },
    sandbox: summaryOf('AwaitingAuthorisation'),
  }
  const asking: string[] = []
  for (const screen of SCREENS) {
    const row = rows[screen.name]
    for (const key of screen.keys.filter(
      ({ writes, counted }) => writes === true && counted === undefined && row !== undefined,
    )) {
      const kind = key.for ?? 'platform'
      const question = key.ask?.([row], whoOf(kind === 'merchant' ? 'ADMIN' : 'OWNER', kind))
      const command = key.command(row, {}, whoOf('OWNER', kind))
      const isDanger = (question?.danger ?? []).length > 0
      t.equal(isDanger, asksIn(map, command.split(' ').slice(1)), `${screen.name} ${key.label}: ${command}`)
      if (isDanger) t.ok(question?.last, `${key.label} is looked at once more`)
      if (isDanger) asking.push(key.label)
    }
  }
  t.ok(['refuse', 'suspend', 'hold', 'fees', 'disable', 'refund', 'resolve'].every((label) => asking.includes(label)))
})

t.test("an approval does not override another operator's decision meanwhile", async (t) => {
  const service = await testService(t, { worker: true, env: { SVC_IDENTITY: 'embedded' } })
  const { id } = await service.merchant()
  await service.owner.query("update merchants set kyb_status = 'PENDING' where id = $1", [id])
  const [ada, grace] = [await service.operator('OPS'), await service.operator('OPS')]
  const console = openConsole(t, {
    url: service.url,
    env: { SVC_TOKEN: (ada['authorization'] ?? '').replace('Bearer ', '') },
    words: ['--screen', 'kyb'],
  })
  await console.until(/a approve/)
  console.press('a')
  console.type('papers')
  await console.until(/--reason papers/)
  console.press('ctrl-y')
  await console.until(/copied the command/)
  const body = { kyb_status: 'SUSPENDED', reason: 'fraud' }
  t.match(await service.call('PUT', `/api/v1/admin/merchants/${id}/kyb`, { headers: grace, body }), { status: 200 })
  console.press('enter')
  await console.until(/nothing was done: kyb status is[│\s]+SUSPENDED/)
  await console.until(/Try: .*svc merchants show/)
  console.press('esc', 'q')
  t.match(await console.ended(), { code: 0 })
  const { body: now } = await service.call('GET', `/api/v1/admin/merchants/${id}`, { headers: ada })
  t.match(now, { kyb_status: 'SUSPENDED', actions: [{ action: 'merchant.kyb', reason: 'fraud' }] })
  t.equal(now.actions.length, 1)
})
