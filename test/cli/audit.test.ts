import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { KNOWN_ACTIONS } from '../../cli/audit/actions.ts'
import { changedText, subjectText } from '../../cli/audit/view.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { OperatorAction } from '../../src/wire/audit.ts'
import { MERCHANT_ID, actionOf, fakeAdmin, merchantOf, pageOf } from './admin-harness.ts'

t.test('audit lists what was done, filtered', async (t) => {
  const admin = await fakeAdmin(t, ({ path }) => {
    if (path.startsWith('/api/v1/admin/audit')) return pageOf([actionOf()])
    return path.includes('?') ? pageOf([merchantOf()]) : { json: { ...merchantOf(), actions: [] } }
  })
  const { code, stdout } = await admin.run(['audit', 'list', '--merchant', 'acme', '--action', 'merchant.kyb'])
  t.equal(code, 0)
  t.match(
    stdout,
    /TO +CHANGED +WHO +WHY[^]* acme +kyb_status PENDING → APPROVED +grace@pay\.example \(OPS\) +documents checked/,
  )
  t.equal(admin.requests.at(-1)?.path, `/api/v1/admin/audit?merchant_id=${MERCHANT_ID}&action=merchant.kyb&limit=50`)
})

t.test('an action that is misspelt is no proof that nothing was done', async (t) => {
  const admin = await fakeAdmin(t, () => pageOf([]))
  const list = (...words: string[]) => admin.run(['audit', 'list', ...words])
  const refused = await list('--action', 'merchant.hol')
  t.match(refused, {
    code: 2,
    stdout: '',
    stderr: /no action is called "merchant\.hol"; there are merchant\.register,/,
  })
  t.match(refused.stderr, /Try: svc .*audit list --action merchant\.hold\n/)
  t.match(await list('--action', 'merchant.hold'), { code: 0, stderr: 'There are no such actions.\n' })
  const newer = await fakeAdmin(t, () => pageOf([actionOf({ action: 'payment.teleport' })]))
  t.match(await newer.run(['audit', 'list', '--action', 'payment.teleport']), { code: 0, stdout: /payment\.teleport/ })
})

t.test('audit lists what was done in a time', async (t) => {
  const admin = await fakeAdmin(t, () => pageOf([actionOf()]))
  await admin.run(['audit', 'list', '--since', '2026-11-01', '--until', '2026-11-21T09:30:00Z'])
  const query = new URL(admin.requests.at(-1)?.path ?? '', 'http://svc').searchParams
  t.strictSame([query.get('from'), query.get('to')], ['2026-11-01T00:00:00.000Z', '2026-11-21T09:30:00.000Z'])
  t.match(await admin.run(['audit', 'list', '--since', 'yesterday']), { code: 2, stderr: /--since/ })
})

t.test('the trail names who an action was done to and what changed, without what is empty', async (t) => {
  const told = (more: object): string[] => {
    const row = OperatorAction.parse(actionOf(more))
    return [subjectText(row), changedText(row)]
  }
  t.same(told({ before: { payout_held: false, by: null }, after: { payout_held: true, by: 'ada' } }), [
    'acme',
    'payout_held false → true, by ada',
  ])
  const member = '01a1fd03-0000-7eb7-872f-a2b4358c0001'
  const ada = { email: 'ada@acme.example', role: 'ADMIN' }
  t.same(told({ subject_id: member, before: null, after: ada }), ['acme ada@acme.example', 'role ADMIN'])
  t.same(told({ subject_id: member, before: { role: 'ADMIN' }, after: { role: 'FINANCE' } }), [
    'acme 358c0001',
    'role ADMIN → FINANCE',
  ])
  const ofPlatform = { merchant_id: null, realm_slug: null }
  t.same(told({ ...ofPlatform, subject_id: member, before: ada, after: null }), ['ada@acme.example', 'role ADMIN → -'])
  t.same(told({ subject_id: 'acme-key-4f7a1c9e', before: null, after: null }), ['acme-key-4f7a1c9e', ''])
  t.same(told({ subject_id: 'acme', before: { n: null }, after: { n: ['a', 'b'] } }), ['acme', 'n a b'])
  t.same(told({ subject_id: 'acme', before: null, after: { advance_ms: 97_200_000 } }), [
    'acme',
    'advance 1 day 3 hours',
  ])
})

t.test('what the service does by itself has no role in the trail', async (t) => {
  const admin = await fakeAdmin(t, () => pageOf([actionOf({ actor: 'registration', actor_role: 'NONE' })]))
  const { stdout } = await admin.run(['audit', 'list'])
  t.match(stdout, /registration \(service\)/)
  t.notMatch(stdout, /NONE/)
})

t.test('the help of --action lists every action that is recorded', async (t) => {
  const root = join(packageRoot(), 'src')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const recorded = files.flatMap((file) =>
    // One of two, where a condition stands before them.
    [...readFileSync(join(root, file), 'utf8').matchAll(/\baction(?::| =) (?:'|[^,\n]*\? ')(.+)/g)].flatMap((match) =>
      [...`'${match[1]}`.matchAll(/'([a-z_]+\.[a-z_]+)'/g)].map(([, name]) => name),
    ),
  )
  t.same(KNOWN_ACTIONS.toSorted(), [...new Set(recorded)].toSorted())
  const { stdout } = await (await fakeAdmin(t, () => pageOf([]))).run(['audit', 'list', '--help'])
  for (const name of KNOWN_ACTIONS) t.ok(stdout.includes(name), name)
})

t.test('a terminal of 80 columns shows every list unbroken, and ids by their ends', async (t) => {
  const long = merchantOf({
    admin_email: 'a.very.long.name.indeed@acme.example',
    trading_name: 'Acme of the whole world',
  })
  const action = actionOf({ actor: 'a.very.long.name.indeed@pay.example', reason: 'documents checked by two of us' })
  const admin = await fakeAdmin(t, ({ path }) => {
    if (path.startsWith('/api/v1/admin/audit')) return pageOf([action])
    return path.includes('?') ? pageOf([long]) : { json: { ...long, actions: [action] } }
  })
  const plain = ['--color', 'never']
  const list = await admin.run(['merchants', 'list', ...plain], { tty: true })
  t.match(list.stdout, /^ID +REALM[^]*\n358c4f6d +acme/)
  const audit = await admin.run(['audit', 'list', ...plain], { tty: true })
  t.equal(
    audit.stdout,
    [
      'ORDINAL  TIME         ACTION        TO    CHANGED',
      '    WHO                                        WHY',
      '      7  11-21 09:30  merchant.kyb  acme  PENDING → APPROVED',
      '    a.very.long.name.indeed@pay.example (OPS)  documents checked by two of us',
      '',
    ].join('\n'),
  )
  const one = await admin.run(['merchants', 'show', MERCHANT_ID, ...plain], { tty: true })
  for (const line of `${list.stdout}${audit.stdout}${one.stdout}`.split('\n')) t.ok(line.length <= 80, line)
  t.match(one.stdout, `Merchant       ${MERCHANT_ID}`, 'a record is told whole')
  const piped = await admin.run(['merchants', 'list'])
  t.match(piped.stdout, new RegExp(`${MERCHANT_ID} .*a\\.very\\.long\\.name\\.indeed@acme\\.example`))
  t.match((await admin.run(['merchants', 'list', '-o', 'csv'], { tty: true })).stdout, MERCHANT_ID)
})
