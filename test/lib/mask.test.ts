import t from 'tap'
import { maskAddress, maskEmails, maskEmailsIn } from '../../src/lib/mask.ts'

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
  t.notMatch(maskAddress('"jonathan smith"@mask.example'), /jonathan|smith/, 'a space, where a field has one address')
  t.notMatch(maskEmails('ada@acme.example,jonathan@mask.example'), /ada|jonathan/, 'two without a space between')
})

t.test('in every text of a JSON value, its names among them, and address fields as one', async (t) => {
  t.same(maskEmailsIn({ 'ada@acme.example': [1, null, true, { email: 'bob@acme.example' }] }), {
    'a***@acme.example': [1, null, true, { email: 'b***@acme.example' }],
  })
  t.same(maskEmailsIn({ admin_email: '"bob smith"@acme.example', reason: 'ask bob@acme.example', email: null }), {
    admin_email: '"***@acme.example',
    reason: 'ask b***@acme.example',
    email: null,
  })
})
