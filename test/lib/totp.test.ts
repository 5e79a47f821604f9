import t from 'tap'
import { base32, matchingStep, totpAddress, totpCode, totpStep } from '../../src/lib/totp.ts'

const SECRET = Buffer.from('12345678901234567890')

t.test('the codes of RFC 6238, appendix B', async (t) => {
  const codes: [seconds: number, code: string][] = [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ]
  for (const [seconds, code] of codes) t.equal(totpCode(SECRET, totpStep(seconds * 1_000), 8), code)
})

t.test('the codes of RFC 4226, appendix D', async (t) => {
  const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489']
  t.same(
    codes.map((_, counter) => totpCode(SECRET, counter)),
    codes,
  )
})

t.test('a code of the step before and after is accepted, of two steps away it is not', async (t) => {
  const now = 1_234_567_890_000
  const step = totpStep(now)
  for (const off of [-1, 0, 1]) t.equal(matchingStep(SECRET, totpCode(SECRET, step + off), now), step + off)
  for (const off of [-2, 2]) t.equal(matchingStep(SECRET, totpCode(SECRET, step + off), now), undefined)
  for (const code of ['', '12345', '1234567', 'abcdef', '１２３４５６'])
    t.equal(matchingStep(SECRET, code, now), undefined)
})

t.test('base32 as in RFC 4648, without padding', async (t) => {
  const pairs = { '': '', f: 'MY', fo: 'MZXQ', foo: 'MZXW6', foob: 'MZXW6YQ', fooba: 'MZXW6YTB', foobar: 'MZXW6YTBOI' }
  for (const [text, encoded] of Object.entries(pairs)) t.equal(base32(Buffer.from(text)), encoded)
})

t.test('the address for an app names the service and the account', async (t) => {
  const address = totpAddress(SECRET, { issuer: 'Acme & Söhne', account: 'ada@acme.example' })
  t.equal(
    address,
    'otpauth://totp/ada%40acme.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Acme%20%26%20S%C3%B6hne',
  )
})
