import t from 'tap'
import { maskEmails, maskEmailsIn } from '../../src/lib/mask.ts'

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
  ]
  for (const [text, masked] of cases) t.equal(maskEmails(text), masked, text)
  t.notMatch(maskEmails('Ünï@acme.example'), /nï/)
})

t.test('in every text of a JSON value, its names among them', async (t) => {
  t.same(maskEmailsIn({ 'ada@acme.example': [1, null, true, { email: 'bob@acme.example' }] }), {
    'a***@acme.example': [1, null, true, { email: 'b***@acme.example' }],
  })
})
