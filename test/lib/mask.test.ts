import fc from 'fast-check'
import t from 'tap'
import {
  maskAddress,
  maskAllButLastFour,
  maskEmails,
  maskNumbers,
  maskPersonalData,
  maskFreeText,
} from '../../src/lib/mask.ts'

t.test('the name of an e-mail address is hidden but for its first letter', async (t) => {
  const cases: [text: string, masked: string][] = [
    ['ada@acme.example', 'a***@acme.example'],
    ['a@acme.example', 'a***@acme.example'],
    ['ada.lovelace+test@acme.example', 'a***@acme.example'],
    [
      'ask <ada@acme.example>, bob@acme.example; or "c@d.example"',
      'ask <a***@acme.example>, b***@acme.example; or "c***@d.example"',
    ],
    ['no address @ all', 'no address @ all'],
    ['written to @all and to @', 'written to @all and to @'],
    ['two\nlines: ada@acme.example\tthen', 'two\nlines: a***@acme.example\tthen'],
  ]
  for (const [text, masked] of cases) t.equal(maskEmails(text), masked, text)
  t.notMatch(maskEmails('Ünï@acme.example'), /nï/)
})

/** Names that are allowed, or that a server takes although they are not. */
const ODD_NAMES = [
  "jonathan.smith'x",
  "o'jonathan",
  'jonathan,smith',
  'jonathan:smith',
  'a;jonathan',
  'a(jonathan)',
  'a<jonathan>',
  '"jonathan"smith',
  'a[jonathan]',
  String.raw`a\jonathan`,
  'jonathan@smith',
  'x=jonathan|smith&y',
]

t.test('no part of a name is shown, whatever it is made of', async (t) => {
  for (const name of ODD_NAMES) {
    const address = `${name}@mask.example`
    for (const masked of [maskEmails(`550 ${address} unknown`), maskEmails(`<${address}>`), maskAddress(address)]) {
      t.notMatch(masked, /onathan|smith/, masked)
      t.match(masked, /\*\*\*@mask\.example/)
    }
  }
  t.notMatch(maskAddress('"jonathan smith"@mask.example'), /jonathan|smith/, 'a space in a field with one address')
  t.notMatch(
    maskEmails('ada@acme.example,jonathan@mask.example'),
    /ada|jonathan/,
    'two addresses without a space between them',
  )
})

t.test('in every text of a JSON value, its names among them, and address fields as one', async (t) => {
  t.same(maskPersonalData({ 'ada@acme.example': [1, null, true, { email: 'bob@acme.example' }] }), {
    'a***@acme.example': [1, null, true, { email: 'b***@acme.example' }],
  })
  t.same(maskPersonalData({ admin_email: '"bob smith"@acme.example', reason: 'ask bob@acme.example', email: null }), {
    admin_email: '"***@acme.example',
    reason: 'ask b***@acme.example',
    email: null,
  })
})

t.test('a mask shows four characters and not how many there are', async (t) => {
  fc.assert(
    fc.property(fc.stringMatching(/^\d{8}$/), (text) => {
      const mask = maskAllButLastFour(text)
      t.equal(mask, `****${text.slice(4)}`)
      t.equal(mask.length, 8)
    }),
  )
  t.equal(maskAllButLastFour('123456'), '****3456')
})

t.test('numbers of phones and accounts are shown as their last four characters', async (t) => {
  const cases: [text: string, masked: string][] = [
    ['call 07700 900123 please', 'call ****0123 please'],
    ['call +447700900123, or (020) 7946 0958.', 'call ****0123, or ****0958.'],
    ['+44 (0)20 7946 0958', '****0958'],
    ['020.7946.0958 and 0151/1234567', '****0958 and ****4567'],
    ['(555) 123-4567 or 555.123.4567', '(555) ****4567 or ****4567'],
    ['06 12 34 56 78', '****5678'],
    ['GB29 NWBK 6016 1331 9268 19 is mine', '****6819 is mine'],
    ['IBAN:GB29NWBK60161331926819.', 'IBAN:****6819.'],
    ['gb29-nwbk-6016-1331-9268-19', '****6819'],
    ['NO93 8601 1117 947 and MT84MALT011000012345MTLCAST001S', '****7947 and ****001S'],
    ['20-00-00 55779911', '****9911'],
    ['card 4929 1234 5678 9012', 'card ****9012'],
    ['123\u00a0456', '****3456'],
    ['123\u2013456\u20117', '****4567'],
    ['\uff11\uff12\uff13\uff14\uff15\uff16', '****\uff13\uff14\uff15\uff16'],
    ['12345', '12345'],
    ['12345\n67890', '12345\n67890'],
    [
      'I paid 1250.00 on 3 May, then 12.50 (not 120.00) at 09:30',
      'I paid 1250.00 on 3 May, then 12.50 (not 120.00) at 09:30',
    ],
    ['room no12 with this that', 'room no12 with this that'],
  ]
  for (const [text, masked] of cases) t.equal(maskNumbers(text), masked, text)
  t.equal(maskFreeText('0770 0900123 is pat@payer.example'), '****0123 is p***@payer.example')
})

const digitsOf = (text: string): number => [...text.replaceAll(/\P{Nd}/gu, '')].length

t.test('no six digits with spaces or hyphens between them are left, and shorter numbers stay', async (t) => {
  const piece = fc.oneof(
    fc.stringMatching(/^[0-9]{1,8}$/),
    fc.constantFrom(
      ' ',
      '-',
      '  ',
      '\u00a0',
      '.',
      '/',
      '(0)',
      '+',
      '(',
      ')',
      '\n',
      'GB29',
      'NWBK',
      'a',
      'Straße',
      '@',
      '****',
      '\u{1d7ce}',
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('')
      const masked = maskNumbers(text)
      const runs = masked.match(/\p{Nd}(?:[ \u00a0-]{0,3}\p{Nd})*/gu) ?? []
      for (const run of runs) if (digitsOf(run) > 5) throw new Error(`${JSON.stringify(text)} shows ${run}`)
      if (digitsOf(text) < 6 && masked !== text) throw new Error(`${JSON.stringify(text)} became ${masked}`)
      if (!masked.isWellFormed() && text.isWellFormed()) throw new Error('half a character is left')
    }),
    { numRuns: 5_000 },
  )
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9]{6,20}$/), (number) => {
      t.equal(maskNumbers(`my number ${number}!`), `my number ****${number.slice(-4)}!`)
    }),
  )
})

t.test('masking is linear for every text', async (t) => {
  for (const unit of [
    '1',
    '1 ',
    '1    ',
    '12345.',
    '+',
    '+1',
    '(0',
    '0',
    'GB29',
    'GB29 NWBK ',
    'aa11 bbbb cccc dddd ',
    'a',
    ' ',
    '-',
    '12-',
    'AB12abcd1234efgh5678ijklX',
    '1.1.',
  ]) {
    const timeOf = (length: number): number => {
      const text = unit.repeat(Math.ceil(length / unit.length))
      const began = performance.now()
      maskNumbers(text)
      return performance.now() - began
    }
    timeOf(1_000)
    t.ok(timeOf(400_000) < 1_500, `400,000 characters of ${JSON.stringify(unit)}`)
  }
})

t.test('free text is masked by the name of its member; ids, times and amounts stay as they are', async (t) => {
  const untouched = {
    id: '01990000-1234-7123-8123-123456789012',
    end_to_end_id: 'SVC0199012345678901234567890123456789',
    gross_amount: '1234567.00',
    opened_at: '2026-11-21T09:30:00.000Z',
    ordinal: '123456789',
    reason: 'ITEM_NOT_RECEIVED',
  }
  t.same(maskPersonalData(untouched), untouched)
  const words = 'ring 07700 900123 or pat@payer.example'
  const hidden = 'ring ****0123 or p***@payer.example'
  for (const name of [
    'payer_statement',
    'statement',
    'merchant_evidence',
    'resolution_note',
    'escalation_reason',
    'note',
    'reason',
  ])
    t.same(maskPersonalData({ list: [{ [name]: words }] }), { list: [{ [name]: hidden }] }, name)
  t.same(maskPersonalData({ note: null, reason: 1, statement: [words] }), {
    note: null,
    reason: 1,
    statement: ['ring 07700 900123 or p***@payer.example'],
  })
})
