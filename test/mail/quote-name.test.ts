import t from 'tap'
import { quoteName } from '../../src/mail/quote-name.ts'

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
