import t from 'tap'
import { quoteName, withoutLinks } from '../../src/mail/quote-name.ts'

t.test('a name is quoted on one line', async (t) => {
  t.equal(quoteName('Acme Ltd.'), '“Acme Ltd.”')
  t.equal(quoteName('  Müller & Söhne, No. 1 '), '“Müller & Söhne, No. 1”')
  t.equal(quoteName('Acme”\r\n\t"Boss"\u2028x\u0000'), '“Acme Boss x”')
})

t.test('nothing in it becomes a link', async (t) => {
  t.equal(quoteName('Booking.com'), '“Booking[.]com”')
  t.equal(quoteName('https://evil.example/a?b=c'), '“https[:]//evil[.]example/a?b=c”')
  t.equal(quoteName('www.evil.example'), '“www[.]evil[.]example”')
  t.equal(quoteName('http:\\\\192.0.2.1'), '“http[:]\\\\192[.]0[.]2[.]1”')
  t.equal(quoteName('pay@evil.example'), '“pay@evil[.]example”')
  t.equal(quoteName('evil。example'), '“evil[.]example”')
  t.equal(quoteName('evil.\u200bexample'), '“evil. example”')
})

t.test('text on a line of its own keeps its quotation marks, and dots that no address has', async (t) => {
  for (const text of ['INV.2024', 'No.7', 'J.P. Morgan', 'S.A.', 'v1.2.3', 'a “good” "one"', 'Acme Ltd.', 'A.1b']) {
    t.equal(withoutLinks(text), text)
  }
  for (const [text, expected] of [
    ['see evil.example', 'see evil[.]example'],
    ['a.b.co', 'a.b[.]co'],
    ['evil.xn--p1ai', 'evil[.]xn--p1ai'],
    ['evil.рф', 'evil[.]рф'],
    ['evil.भारत', 'evil[.]भारत'],
    ['evil．com', 'evil[.]com'],
    ['1.com/2024', '1[.]com/2024'],
    ['10.0.0.1/a', '10[.]0[.]0[.]1/a'],
    ['javascript://x', 'javascript[:]//x'],
    ['one\r\ntwo\u2028three\u0000\u200bfour', 'one two three four'],
  ] as const) {
    t.equal(withoutLinks(text), expected)
  }
})
