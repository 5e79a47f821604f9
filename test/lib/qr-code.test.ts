import t from 'tap'
import { encode } from 'uqr'
import { qrCode } from '../../src/lib/qr-code.ts'

const MASKS = [0, 1, 2, 3, 4, 5, 6, 7]

/** Lower-case letters, so that the other encoder uses bytes too. */
function text(length: number): string {
  return `https://bank.example/${'abcdefghij'.repeat(20)}`.slice(0, length)
}

function other(value: string, maskPattern: number): boolean[][] {
  return encode(value, { ecc: 'M', border: 0, boostEcc: false, maskPattern }).data
}

t.test("each version equals another encoder's code", async (t) => {
  const versions = new Set<number>()
  for (let length = 1; length <= 180; length += 3) {
    const mask = length % 8
    const modules = qrCode(text(length), mask)
    versions.add((modules.length - 17) / 4)
    t.same(modules, other(text(length), mask), `${length} bytes`)
  }
  t.same(versions.size, 9)
})

t.test('each mask, and letters of several bytes', async (t) => {
  for (const mask of MASKS) t.same(qrCode('https://ŵy.example/é', mask), other('https://ŵy.example/é', mask))
})

t.test('the most readable of the eight masks is chosen', async (t) => {
  const chosen = JSON.stringify(qrCode(text(170)))
  t.equal(MASKS.filter((mask) => JSON.stringify(qrCode(text(170), mask)) === chosen).length, 1)
})

t.test('the longest text fits, and one more byte is rejected', async (t) => {
  t.equal(qrCode(text(180), 0).length, 53)
  t.throws(() => qrCode(text(181), 0), RangeError)
})

t.test("a payment's short address gives modules that a camera can read", async (t) => {
  const address = `https://payments.a-rather-long-name.example.co.uk/go?state=${'x'.repeat(43)}`
  t.ok(qrCode(address).length <= 41, 'six pixels each at 18 rem, with the white around them')
})
