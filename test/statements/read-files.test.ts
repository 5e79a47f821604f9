import t from 'tap'
import { readCamt } from '../../src/statements/read-camt.ts'
import { readCsv } from '../../src/statements/read-csv.ts'
import type { CsvForm } from '../../src/statements/read-csv.ts'
import { britishFile, dutchFile, germanFile, nordicFile, schemaErrors } from '../support/bank-files.ts'

const E2E = `SVC${'0a'.repeat(16)}`

t.test('the samples are messages by the official schemas', async (t) => {
  const british = britishFile([
    { amount: '50.00', ref: 'A1', e2e: E2E, text: 'INV 1' },
    { amount: '5.00', direction: 'DBIT', reversal: true },
    { amount: '1.00', status: 'PDNG' },
  ])
  t.same(await schemaErrors('camt.053.001.02', british), [])
  t.same(await schemaErrors('camt.053.001.08', nordicFile([{ amount: '1.00', ref: 'B1', e2e: E2E, text: 'RF18' }])), [])
  const dutch = dutchFile([[{ amount: '1.00', text: 'x', e2e: E2E }], [{ amount: '2.00', text: 'y', ref: 'D1' }]])
  t.same(await schemaErrors('camt.053.001.02', dutch), [])
  t.same(await schemaErrors('camt.054.001.08', germanFile([{ amount: '1.00', text: 'x' }])), [])
  t.same(await schemaErrors('camt.054.001.02', firstVersion(germanFile([{ amount: '1.00', text: 'x' }]))), [])
  t.not((await schemaErrors('camt.053.001.02', british.replaceAll('CRDT', 'CREDIT'))).length, 0, 'a wrong one is seen')
})

t.test('camt.053 version 02: booked entries are lines, with their names and balances', async (t) => {
  const { format, statements } = readCamt(
    britishFile([
      { amount: '1250.5', ref: 'A1', e2e: E2E, text: 'INV\n  1', on: '2026-11-20' },
      { amount: '5', direction: 'DBIT', reversal: true, on: '2026-11-21' },
      { amount: '1.00', status: 'PDNG' },
      { amount: '0.00' },
    ]),
  )
  const line = { currency: 'GBP', isReversal: false, returnReason: null }
  t.same(
    { format, statements },
    {
      format: 'camt.053',
      statements: [
        {
          reference: 'STMT-1',
          account: '20201555555555',
          opening: { amount: '-100.0000', currency: 'GBP' },
          closing: { amount: '250.5000', currency: 'GBP' },
          unbookedCount: 1,
          lines: [
            {
              ...line,
              bookedOn: '2026-11-20',
              direction: 'CREDIT',
              amount: '1250.5000',
              bankReference: 'A1',
              endToEndId: E2E,
              remittance: 'INV 1',
            },
            {
              ...line,
              bookedOn: '2026-11-21',
              direction: 'DEBIT',
              amount: '5.0000',
              isReversal: true,
              bankReference: null,
              endToEndId: null,
              remittance: null,
            },
          ],
        },
      ],
    },
  )
})

t.test('one account is spelled once, however a bank writes it', async (t) => {
  const byIban = britishFile([{ amount: '1.00' }])
  const inParts = (number: string, sortCode: string): string =>
    byIban.replace(
      /<Acct>.*<\/Acct>/,
      `<Acct><Id><Othr><Id>${number}</Id></Othr></Id><Svcr><FinInstnId><ClrSysMmbId><ClrSysId><Cd>GBDSC</Cd></ClrSysId><MmbId>${sortCode}</MmbId></ClrSysMmbId></FinInstnId></Svcr></Acct>`,
    )
  t.same(await schemaErrors('camt.053.001.02', inParts('55555555', '202015')), [])
  const csv = (account: string) =>
    readCsv('Date,Details,Paid out,Paid in\n22/11/2026,x,,1.00\n', { ...FORM, account }).statements
  for (const statements of [
    readCamt(byIban).statements,
    readCamt(inParts('20-20-15 55555555', '202015')).statements,
    readCamt(inParts('55555555', '20-20-15')).statements,
    csv('20-20-15 55555555'),
    csv('20201555555555'),
    csv('gb33 bukb 2020 1555 5555 55'),
  ])
    t.match(statements, [{ account: '20201555555555' }])
  t.match(
    csv('GB34BUKB20201555555555'),
    [{ account: 'GB34BUKB20201555555555' }],
    'with wrong check digits it is another',
  )
  t.match(csv('DE89 3704 0044 0532 0130 00'), [{ account: 'DE89370400440532013000' }])
  t.match(readCamt(inParts('55555555', 'BUKBGB22')).statements, [{ account: '55555555' }], 'not a sort code')
})

t.test('camt.053 version 08: each transaction of a batch is a line of its own', async (t) => {
  const [statement] = readCamt(
    nordicFile([
      { amount: '10.00', ref: 'B1', e2e: E2E },
      { amount: '2.50', ref: 'B2', text: 'RF18539007547034' },
    ]),
  ).statements
  t.match(statement, {
    account: 'FI2112345600000785',
    opening: { amount: '0.0000' },
    closing: null,
    lines: [
      { amount: '10.0000', currency: 'EUR', bankReference: 'B1', endToEndId: E2E },
      { amount: '2.5000', bankReference: 'B2', endToEndId: null, remittance: 'RF18539007547034' },
    ],
  })
  const whole = readCamt(
    nordicFile([
      { amount: '1.00', ref: 'B1' },
      { amount: '2.00', ref: 'B2' },
    ]).replaceAll(/<Amt Ccy="EUR">[12].00<\/Amt>/g, ''),
  )
  t.match(
    whole.statements[0]?.lines,
    [{ amount: '3.0000', bankReference: 'ENTRY-1', endToEndId: null }],
    'a batch without the amounts of its transactions is one line',
  )
})

t.test(
  'a transaction has the direction of its own, and is a line only where all of an entry add up to it',
  async (t) => {
    const mixed = nordicFile([
      { amount: '100.00', ref: 'B1', e2e: E2E },
      { amount: '70.00', direction: 'DBIT', ref: 'B2' },
      { amount: '0.00', ref: 'B3' },
    ])
    t.same(await schemaErrors('camt.053.001.08', mixed), [])
    const linesOf = (file: string) => readCamt(file).statements[0]?.lines ?? []
    const both = [
      { direction: 'CREDIT', amount: '100.0000', bankReference: 'B1', endToEndId: E2E },
      { direction: 'DEBIT', amount: '70.0000', bankReference: 'B2' },
    ]
    t.match(linesOf(mixed), both)
    t.equal(linesOf(mixed).length, 2, 'what is nothing is left out')
    const whole = { bankReference: 'ENTRY-1', endToEndId: null, remittance: null }
    for (const [name, file, line] of [
      ['without the directions', mixed.replaceAll(/(<\/Amt>)<CdtDbtInd>....<\/CdtDbtInd>(?=\s*<\/TxDtls>)/g, '$1'), {}],
      ['another sum', mixed.replace('>100.00<', '>100.01<'), {}],
      ['another currency', mixed.replace('<Amt Ccy="EUR">70', '<Amt Ccy="SEK">70'), {}],
      [
        'the other direction',
        mixed.replace('<CdtDbtInd>CRDT</CdtDbtInd><Sts>', '<CdtDbtInd>DBIT</CdtDbtInd><Sts>'),
        { direction: 'DEBIT' },
      ],
    ] as const) {
      t.match(linesOf(file), [{ direction: 'CREDIT', amount: '30.0000', ...whole, ...line }], name)
      t.equal(linesOf(file).length, 1, name)
    }
    const outgoing = nordicFile([
      { amount: '100.00', direction: 'DBIT', ref: 'B1', e2e: E2E },
      { amount: '70.00', ref: 'B2' },
    ])
    t.match(linesOf(outgoing), [
      { direction: 'DEBIT', amount: '100.0000' },
      { direction: 'CREDIT', amount: '70.0000' },
    ])
    const even = [
      { amount: '70.00', ref: 'B1', e2e: E2E },
      { amount: '70.00', direction: 'DBIT', ref: 'B2' },
    ] as const
    t.match(linesOf(nordicFile(even)), [{ direction: 'CREDIT' }, { direction: 'DEBIT' }], 'together they are nothing')
    const contrary = nordicFile(even.slice(0, 1)).replace(/DBIT|CRDT(?=<\/CdtDbtInd><Sts>)/, 'DBIT')
    t.match(linesOf(contrary), [{ direction: 'DEBIT', amount: '70.0000', ...whole }], 'its only transaction is another')
    t.throws(() => linesOf(mixed.replace(/CRDT(?=<\/CdtDbtInd>\s*<\/TxDtls>)/, 'IN')), {
      message: /entry 1, transaction 1: <CdtDbtInd> must be CRDT or DBIT/,
    })
  },
)

t.test('camt.053 on two pages: each has its balances, and its entry the amounts in the details', async (t) => {
  const { format, statements } = readCamt(
    dutchFile([
      [
        { amount: '10.00', e2e: E2E, ref: 'D1', text: 'Factuur 17' },
        { amount: '2.50', e2e: 'NOTPROVIDED', text: 'Factuur 18' },
      ],
      [{ amount: '2.50', e2e: E2E.slice(0, 31), ref: 'D3' }],
    ]),
  )
  t.equal(format, 'camt.053')
  t.match(statements, [
    {
      reference: 'PAGE-1',
      account: 'NL91ABNA0417164300',
      opening: { amount: '1000.0000', currency: 'EUR' },
      closing: null,
      lines: [
        { amount: '10.0000', direction: 'CREDIT', endToEndId: E2E, bankReference: 'D1', remittance: 'Factuur 17' },
        { amount: '2.5000', endToEndId: null, remittance: 'Factuur 18' },
      ],
    },
    { reference: 'PAGE-2', opening: null, closing: { amount: '1015.0000' }, lines: [{ amount: '2.5000' }] },
  ])
})

t.test('camt.054, with prefixes: a text in parts is one', async (t) => {
  const { format, statements } = readCamt(germanFile([{ amount: '3.00', ref: 'N1', e2e: E2E, text: 'Rechnung 7' }]))
  t.equal(format, 'camt.054')
  const lines = [{ endToEndId: E2E, remittance: 'Rechnung 7- second part', bankReference: 'N1' }]
  t.match(statements[0]?.lines, lines)
  const older = firstVersion(germanFile([{ amount: '3.00', ref: 'N1', e2e: E2E, text: 'Rechnung 7' }]))
  t.match(readCamt(older), { format: 'camt.054', statements: [{ lines }] }, 'in version 02 too')
})

/** The same notification in version 02, which needs its time, and whose status is a text. */
function firstVersion(file: string): string {
  return file
    .replace('camt.054.001.08', 'camt.054.001.02')
    .replace('</n:Id><n:Acct>', '</n:Id><n:CreDtTm>2026-11-24T06:00:00Z</n:CreDtTm><n:Acct>')
    .replaceAll(/<n:Sts><n:Cd>BOOK<\/n:Cd><\/n:Sts>/g, '<n:Sts>BOOK</n:Sts>')
}

const FORM: CsvForm = {
  account: '20-20-15 55555555',
  currency: 'GBP',
  date_format: 'DD/MM/YYYY',
  columns: { date: 'Date', credit: 'Paid in', debit: 'Paid out', reference: 'Details' },
}

t.test('CSV: columns by their names, thousands, two columns or one with a sign', async (t) => {
  const two = readCsv(
    '\uFEFFDate,Details,Paid out,Paid in,Balance\n22/11/2026,"INV 1, A",,"1,250.00",9\n1/2/2026,Fee,5.00,,4\n2/2/2026,Carried,,0.00,4\n',
    FORM,
  )
  t.match(two, {
    format: 'csv',
    statements: [
      {
        reference: '2026-02-01 to 2026-11-22',
        account: '20201555555555',
        lines: [
          {
            bookedOn: '2026-11-22',
            direction: 'CREDIT',
            amount: '1250.0000',
            remittance: 'INV 1, A',
            endToEndId: null,
          },
          { bookedOn: '2026-02-01', direction: 'DEBIT', amount: '5.0000' },
        ],
      },
    ],
  })
  t.equal(two.statements[0]?.lines.length, 2)
  const one = readCsv('Tag;Betrag;Whg;E2E\n22.11.2026;-1.250,50;EUR;X1\n23.11.2026;+7,00;EUR;\n', {
    ...FORM,
    date_format: 'DD.MM.YYYY',
    columns: { date: 'Tag', amount: 'Betrag', currency: 'Whg', end_to_end_id: 'E2E' },
  })
  t.match(one.statements[0]?.lines, [
    { direction: 'DEBIT', amount: '1250.5000', currency: 'EUR', endToEndId: 'X1' },
    { direction: 'CREDIT', amount: '7.0000', endToEndId: null },
  ])
})

t.test('CSV: three decimals are read where they are no thousands', async (t) => {
  const amountOf = (text: string, currency: string) =>
    readCsv(`Date,Details,Paid out,Paid in\n22/11/2026,x,,"${text}"\n`, { ...FORM, currency }).statements[0]?.lines
  t.match(amountOf('1.250', 'KWD'), [{ amount: '1.2500', currency: 'KWD' }], 'a currency that has three')
  t.match(amountOf('1250.000', 'GBP'), [{ amount: '1250.0000' }])
  t.match(amountOf('0.350', 'GBP'), [{ amount: '0.3500' }])
  t.match(amountOf('1.250.000', 'EUR'), [{ amount: '1250000.0000' }])
  t.match(amountOf('1.250.000,50', 'EUR'), [{ amount: '1250000.5000' }])
  t.throws(() => amountOf('1,250', 'KWD'), { message: /could be two/ })
})

t.test('a CSV file that could be read in two ways, or not at all, is refused with its line', async (t) => {
  const head = 'Date,Details,Paid out,Paid in\n'
  for (const [text, message] of [
    [`${head}22/11/26,x,,1.00`, /line 2: "0026-11-22" is not a valid date/],
    [`${head}31/02/2026,x,,1.00`, /line 2: .* is not a valid date/],
    [`${head}22/11/2026,x,,"1,250"`, /line 2: "1,250" is not a valid amount, or could be two/],
    [`${head}22/11/2026,x,,1.250`, /line 2: "1.250" is not a valid amount, or could be two/],
    [`${head}22/11/2026,x,,1250.005`, /line 2: "1250.005" has more decimals than GBP/],
    [`${head}22/11/2026,x,,ten`, /line 2: "ten" is not a valid amount/],
    [`${head}22/11/2026,x,1.00,2.00`, /line 2: both a credit and a debit/],
    [`${head}\n22/11/2026,"x,,1.00`, /line \d+: /],
    ['Day,Details\n', /there is no column "Date" for date; the first line has "Day", "Details"/],
    ['', /there is no column/],
  ] as const)
    t.throws(() => readCsv(text, FORM), { message }, text)
})

t.test('a file that attacks, or is no camt, is refused', async (t) => {
  const good = britishFile([{ amount: '50.00' }])
  const doctype = (declarations: string): string => good.replace('?>\n', `?>\n<!DOCTYPE Document [${declarations}]>\n`)
  const laughs = Array.from({ length: 9 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('')
  for (const [name, text, message] of [
    [
      'an external entity',
      doctype('<!ENTITY x SYSTEM "file:///etc/passwd">').replace('STMT-1', '&x;'),
      /line \d+: a document type/,
    ],
    ['billion laughs', doctype(`<!ENTITY l0 "ha">${laughs}`).replace('STMT-1', '&l9;'), /document type/],
    ['an entity that nobody declared', good.replace('STMT-1', '&x;'), /line \d+: undefined entity/],
    ['depth', good.replace('STMT-1', `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`), /nested deeper than 40/],
    ['one long text', good.replace('STMT-1', 'x'.repeat(20_000)), /<Id> has more than 10000 characters/],
    ['an end that is missing', good.slice(0, -30), /line \d+: unclosed tag/],
    [
      'another message',
      good.replaceAll('BkToCstmrStmt', 'CstmrCdtTrfInitn'),
      /not a camt.053 or camt.054 file: the document has <CstmrCdtTrfInitn>/,
    ],
    ['an empty document', '<Document/>', /has no message/],
    [
      'an amount with too many decimals',
      good.replace('50.00', '50.001'),
      /entry 1: "50.001" has more decimals than GBP/,
    ],
    ['a negative amount', good.replace('50.00', '-50.00'), /is not a valid amount/],
    ['a currency that is none', good.replace('<Amt Ccy="GBP">50', '<Amt Ccy="gbp">50'), /not a valid currency/],
    [
      'a direction that is none',
      good.replace('<CdtDbtInd>CRDT</CdtDbtInd>\n      <Sts>', '<CdtDbtInd>IN</CdtDbtInd><Sts>'),
      /CdtDbtInd/,
    ],
    ['no account', good.replace(/<IBAN>.*<\/IBAN>/, '<IBAN></IBAN>'), /names no account/],
    [
      'a day that is none',
      good.replaceAll(/<BookgDt><Dt>[^<]*/g, '<BookgDt><Dt>2026-02-30'),
      /"2026-02-30" is not a valid date/,
    ],
  ] as const)
    t.throws(() => readCamt(text), { message }, name)
})

t.test('a placeholder is no name: lines that share it stay lines of their own', async (t) => {
  for (const none of ['NONREF', 'NOTPROVIDED', 'Not Provided', 'noref', 'N/A', '0000', '-']) {
    const [statement] = readCamt(britishFile([{ amount: '1.00', ref: none, e2e: none, text: 'INV 1' }])).statements
    t.match(statement?.lines, [{ bankReference: null, endToEndId: null, remittance: 'INV 1' }], none)
  }
  const [named] = readCamt(britishFile([{ amount: '1.00', ref: 'NONREF7', e2e: 'NOTPROVIDED1' }])).statements
  t.match(named?.lines, [{ bankReference: 'NONREF7', endToEndId: 'NOTPROVIDED1' }])
  const columns = { date: 'day', amount: 'amount', bank_reference: 'id', end_to_end_id: 'e2e' }
  const form: CsvForm = { columns, date_format: 'YYYY-MM-DD', account: 'GB33BUKB20201555555555', currency: 'GBP' }
  const [csv] = readCsv('day,amount,id,e2e\n2026-11-20,1.00,NONREF,NOTPROVIDED\n', form).statements
  t.match(csv?.lines, [{ bankReference: null, endToEndId: null }])
})

t.test('a CSV file with more lines than are taken is refused as a whole', async (t) => {
  const columns = { date: 'day', amount: 'amount' }
  const form: CsvForm = { columns, date_format: 'YYYY-MM-DD', account: 'GB33BUKB20201555555555', currency: 'GBP' }
  const file = (count: number): string => `day,amount\n${'2026-11-20,1.00\n'.repeat(count)}`
  t.equal(readCsv(file(50_000), form).statements[0]?.lines.length, 50_000)
  t.throws(() => readCsv(file(50_001), form), /more than 50000 entries: import it in parts/)
})

t.test('a file with more statements than are taken is refused as a whole', async (t) => {
  const whole = britishFile([{ amount: '1.00' }])
  const [one = ''] = /<Stmt>[^]*<\/Stmt>/.exec(whole) ?? []
  t.equal(readCamt(whole.replace(one, one.repeat(1_000))).statements.length, 1_000)
  t.throws(() => readCamt(whole.replace(one, one.repeat(1_001))), /more than 1000 statements: import it in parts/)
})
