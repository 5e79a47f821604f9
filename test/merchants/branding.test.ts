import t from 'tap'
import { putBranding } from '../../src/merchants/branding.ts'
import { BrandingConfig } from '../../src/wire/settings.ts'
import { testService } from '../support/app.ts'
import { countRows } from '../support/rows.ts'

const PATH = '/api/v1/portal/branding'
const DEFAULTS = {
  colors: { primary: '#0B5FFF', background: '#FFFFFF', text: '#111111' },
  logo_url: null,
  font: 'system-ui',
}
const service = await testService(t)
const { app, owner } = service

async function actionsOf(merchantId: string): Promise<unknown[]> {
  const { rows } = await owner.query(
    'select action, before, after from operator_actions where merchant_id = $1 order by ordinal',
    [merchantId],
  )
  return rows
}

t.test('branding that was never set is the default, without warnings', async (t) => {
  const merchant = await service.merchant()
  const { status, body } = await service.call('GET', PATH, { merchant })
  t.strictSame({ status, body }, { status: 200, body: { ...DEFAULTS, warnings: [] } })
})

t.test('branding is replaced as a whole: omitted members get their defaults', async (t) => {
  const merchant = await service.merchant()
  const look = {
    colors: { primary: '#003b2f', text: '#222222' },
    logo_url: 'https://cdn.shop.example/logo.svg',
    font: 'Georgia',
  }
  const whole = { ...look, colors: { primary: '#003B2F', background: '#FFFFFF', text: '#222222' } }
  const set = await service.call('PUT', PATH, { merchant, body: look })
  t.strictSame(set.body, { ...whole, warnings: [] })
  t.strictSame((await service.call('GET', PATH, { merchant })).body, set.body)
  const { rows } = await owner.query('select branding_config from merchants where id = $1', [merchant.id])
  t.strictSame(rows[0].branding_config, whole, 'what is stored is the normal form')
  t.strictSame((await service.call('PUT', PATH, { merchant, body: {} })).body, { ...DEFAULTS, warnings: [] })
  t.strictSame(await actionsOf(merchant.id), [
    { action: 'branding.set', before: DEFAULTS, after: whole },
    { action: 'branding.set', before: whole, after: DEFAULTS },
  ])
})

t.test('setting the same branding again changes nothing', async (t) => {
  const merchant = await service.merchant()
  await service.call('PUT', PATH, { merchant, body: {} })
  t.same(await actionsOf(merchant.id), [], 'nor are the defaults over nothing')
  for (const primary of ['#abcdef', '#ABCDEF'])
    await service.call('PUT', PATH, { merchant, body: { colors: { primary } } })
  t.equal((await actionsOf(merchant.id)).length, 1)
})

t.test('low contrast is accepted with a warning and its ratio', async (t) => {
  const merchant = await service.merchant()
  const body = { colors: { primary: '#FFD700', background: '#FFFFFF', text: '#999999' } }
  const set = await service.call('PUT', PATH, { merchant, body })
  t.equal(set.status, 200)
  t.strictSame(set.body.warnings, [
    {
      code: 'LOW_CONTRAST',
      path: 'colors.text',
      message: 'text #999999 on background #FFFFFF has a contrast of 2.8:1, below 4.5:1',
    },
    {
      code: 'LOW_CONTRAST',
      path: 'colors.primary',
      message: 'white on #FFD700 has a contrast of 1.4:1, below 4.5:1; buttons are written in black (14.9:1)',
    },
  ])
  t.strictSame((await service.call('GET', PATH, { merchant })).body.warnings, set.body.warnings)
})

t.test('all errors are reported at once, and nothing is set', async (t) => {
  const merchant = await service.merchant()
  const before = await countRows(owner)
  const wrong = await service.call('PUT', PATH, {
    merchant,
    body: { colors: { primary: 'blue', text: '#12345', accent: '#000000' }, font: 'Comic Sans', css: 'x', logo_url: 7 },
  })
  t.equal(wrong.status, 400)
  t.same(wrong.body.errors.map(({ path }: { path: string }) => path).toSorted(), [
    'colors.accent',
    'colors.primary',
    'colors.text',
    'css',
    'font',
    'logo_url',
  ])
  for (const logo_url of [
    'http://shop.example/logo.svg',
    'https://ada:pw@shop.example/logo.svg',
    'javascript:alert(1)',
    'data:image/svg+xml,<svg/>',
    '//shop.example/logo.svg',
    'https://10.0.0.1/logo.svg',
    'https://shop.example/a b.svg',
    `https://shop.example/${'a'.repeat(2048)}`,
    '',
  ]) {
    const answer = await service.call('PUT', PATH, { merchant, body: { logo_url } })
    t.match(answer, { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ path: 'logo_url' }] } }, logo_url)
  }
  for (const raw of [
    '[]',
    'null',
    '"look"',
    '{"colors":null}',
    '{"colors":[]}',
    '{"__proto__":{"x":1}}',
    '{"constructor":1}',
  ])
    t.equal(
      (await service.call('PUT', PATH, { merchant, raw, headers: { 'content-type': 'application/json' } })).status,
      400,
      raw,
    )
  t.same(await countRows(owner), before)
  t.strictSame((await service.call('GET', PATH, { merchant })).body, { ...DEFAULTS, warnings: [] })
})

t.test('a logo on localhost is allowed in the sandbox only', async (t) => {
  const merchant = await service.merchant()
  const logo_url = 'http://localhost:5173/logo.svg'
  t.match(await service.call('PUT', PATH, { merchant, body: { logo_url } }), { status: 200, body: { logo_url } })
  const live = { ...app, config: { ...app.config, mode: 'live' as const } }
  const actor = { id: 'x', name: 'x', role: 'ADMIN' }
  const branding = BrandingConfig.parse({ logo_url })
  await t.rejects(putBranding(live, { merchantId: merchant.id, actor, branding }), { code: 'VALIDATION_FAILED' })
})

t.test('each merchant has its own branding, with concurrent changes too', async (t) => {
  const [one, other] = [await service.merchant(), await service.merchant()]
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      service.call('PUT', PATH, { merchant: one, body: { colors: { primary: `#0000${(index + 10).toString()}` } } }),
    ),
  )
  t.match((await service.call('GET', PATH, { merchant: other })).body, DEFAULTS)
  const trail = await owner.query<{ before: object; after: object }>(
    'select before, after from operator_actions where merchant_id = $1 order by ordinal',
    [one.id],
  )
  t.equal(trail.rows.length, 20)
  for (const [index, { before }] of trail.rows.entries())
    t.strictSame(before, trail.rows[index - 1]?.after ?? DEFAULTS, 'each begins where the one before it ended')
})
