import { request } from 'undici'
import t from 'tap'
import { ROUTES } from '../../src/http/routes.ts'
import { columnsOf } from '../../src/http/csv-reply.ts'
import { Transaction } from '../../src/wire/transactions.ts'
import { createPayment, testService } from '../support/app.ts'

const PATH = '/api/v1/portal/transactions'
const CSV = { accept: 'text/csv' }
const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
const merchant = await service.merchant()
for (let index = 0; index < 5; index += 1)
  await createPayment(service, merchant, { amount: `${10 + index}.00`, remittance_reference: `ORDER ${index}` })

function get(query: string, headers: Record<string, string>, of = merchant) {
  return service.call('GET', PATH + query, { merchant: of, headers })
}

/** RFC 4180, read by other code than what writes it. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let cells: string[] = []
  let rest = text
  while (rest !== '') {
    const [whole, quoted, plain, end] = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(rest) ?? []
    if (whole === undefined) throw new Error(`no CSV from here on: ${JSON.stringify(rest.slice(0, 40))}`)
    cells.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    if (end === '\r\n') {
      rows.push(cells)
      cells = []
    }
    rest = rest.slice(whole.length)
  }
  return rows
}

t.test('requests that accept CSV get it, all others JSON', async (t) => {
  const csv = await get('', CSV)
  t.equal(csv.status, 200)
  t.match(csv.headers, {
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': 'attachment; filename="transactions.csv"',
    'content-length': String(Buffer.byteLength(csv.text)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': /./,
    vary: 'accept',
  })
  for (const accept of ['*/*', 'application/json', 'text/csv;q=0.1, application/json', 'image/png', ''])
    t.match((await get('', { accept })).headers, { 'content-type': 'application/json; charset=utf-8', vary: 'accept' })
  const silent = await request(service.url + PATH, { headers: { 'x-merchant-client-id': merchant.clientId } })
  t.equal(silent.headers['content-type'], 'application/json; charset=utf-8', 'without an Accept header')
  await silent.body.dump()
})

t.test('it has the same rows as the JSON, in the declared columns, under their names', async (t) => {
  const [header, ...rows] = parseCsv((await get('', CSV)).text)
  t.same(header, Object.keys(Transaction.shape))
  const { body } = await get('', {})
  t.equal(rows.length, 5)
  t.same(
    rows,
    body.data.map((row: Record<string, string | null>) => Object.values(row).map((value) => value ?? '')),
  )
  t.same(Object.keys(body.data[0]), header, 'and the JSON has them in this order too')
})

t.test('Link leads through all pages, with the filters and from outside', async (t) => {
  const seen: string[] = []
  let next: string | undefined = '?limit=2&min_amount=11.00&currency=GBP'
  let pages = 0
  while (next !== undefined) {
    const { headers, text } = await get(next, CSV)
    pages += 1
    seen.push(
      ...parseCsv(text)
        .slice(1)
        .map((row) => row[5] ?? ''),
    )
    const link = /^<([^>]+)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1]
    t.equal(link === undefined, headers['x-next-cursor'] === undefined)
    if (link === undefined) break
    t.ok(link.startsWith(`${service.app.publicUrl}${PATH}?`), link)
    const query = new URL(link).searchParams
    t.match(
      [...query.entries()],
      [
        ['limit', '2'],
        ['min_amount', '11.00'],
        ['currency', 'GBP'],
        ['cursor', headers['x-next-cursor']],
      ],
    )
    next = new URL(link).search
  }
  t.equal(pages, 2)
  t.same(seen, ['14.00', '13.00', '12.00', '11.00'])
})

t.test('a filter whose value has question marks is in Link whole', async (t) => {
  const shop = await service.merchant()
  for (let count = 0; count < 2; count += 1) await createPayment(service, shop)
  await service.owner.query(`update payment_consents set debtor_bank_id = 'b?a?nk' where merchant_id = $1`, [shop.id])
  const { headers } = await get('?limit=1&bank_id=b?a?nk&currency=GBP', CSV, shop)
  const link = /^<([^>]+)>/.exec(String(headers['link'] ?? ''))?.[1] ?? ''
  t.match(Object.fromEntries(new URL(link).searchParams), { limit: '1', bank_id: 'b?a?nk', currency: 'GBP' })
})

t.test('a list without rows is its header line', async (t) => {
  const { text, headers } = await get('?status=Settled', CSV)
  t.equal(text, `${Object.keys(Transaction.shape).join(',')}\r\n`)
  t.notOk(headers['link'] ?? headers['x-next-cursor'])
})

t.test('errors stay JSON', async (t) => {
  for (const [query, headers, status] of [
    ['?status=nonsense', CSV, 400],
    ['?cursor=nonsense', CSV, 400],
    ['', { ...CSV, 'x-merchant-client-id': 'nobody' }, 401],
  ] as const) {
    const answer = await get(query, headers)
    t.match(answer, { status, body: { status }, headers: { 'content-type': 'application/json; charset=utf-8' } })
  }
})

t.test('text that a spreadsheet would run is made harmless, and no separator breaks a row', async (t) => {
  const shop = await service.merchant()
  const names = [
    '=HYPERLINK("https://evil.example","x")',
    '+1',
    '-2+3',
    '@SUM(A1)',
    'a,b',
    'say "hi"',
    "O'Hara",
    'two\r\nlines',
  ]
  for (const payer_name of names)
    await createPayment(service, shop, { payer_name: 'x', metadata: { name: payer_name } })
  await service.owner.query(
    `update payment_consents c set payer_name = p.metadata ->> 'name' from payment_intents p where p.consent_id = c.id and p.merchant_id = $1`,
    [shop.id],
  )
  const [header = [], ...rows] = parseCsv((await get('', CSV, shop)).text)
  const at = header.indexOf('payer_name')
  t.same(rows.map((row) => row[at]).toReversed(), [
    `'=HYPERLINK("https://evil.example","x")`,
    `'+1`,
    `'-2+3`,
    `'@SUM(A1)`,
    'a,b',
    'say "hi"',
    "O'Hara",
    'two\r\nlines',
  ])
  t.ok(rows.every((row) => row.length === header.length))
})

t.test('what does not offer CSV is not served as CSV', async (t) => {
  const single = ROUTES.map(({ operation }) => operation).filter(({ name }) => name === 'streamEvents')
  t.equal(single.length, 1)
  for (const operation of single) t.throws(() => columnsOf(operation), { message: /nothing to show/ })
  const { body } = await get('?limit=1', {})
  const one = await service.call('GET', `${PATH}/${body.data[0].payment_id}`, { merchant, headers: CSV })
  t.match(one.headers, { 'content-type': 'application/json; charset=utf-8', vary: undefined })
})
