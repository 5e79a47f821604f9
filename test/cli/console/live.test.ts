import t from 'tap'
import { MERCHANT_ID, merchantOf } from '../admin-harness.ts'
import { refusal } from '../harness.ts'
import { liveService } from './live-service.ts'

/* Live mode, a session that ends, and answers that are refusals. */

t.test('live mode is unmistakable, asks for the name, and shows why the service rejects', async (t) => {
  let isOut = false
  const { open, writes } = await liveService(t, [merchantOf({ kyb_status: 'APPROVED' })], ({ method }) => {
    if (isOut) return refusal(401, 'UNAUTHENTICATED')
    return method === 'PUT' ? refusal(409, 'KYB_TRANSITION_INVALID') : undefined
  })
  const console = open({ words: ['--interval', '1s'] })
  await console.until(/ LIVE /)
  await console.until(/s suspend/)
  console.press('s')
  await console.until(/LIVE: suspend Acme/)
  console.type('chargebacks\r')
  await console.until(/LIVE: type acme or /)
  console.shot('live-80x24')
  console.type('Acme\r')
  await console.until(/that is not acme/)
  t.same(writes(), [], 'nothing was sent yet')
  console.press('ctrl-u')
  console.type('acme\r')
  await console.until(/refused: KYB_TRANSITION_INVALID/)
  await console.until(new RegExp(`Try: svc kyb show ${MERCHANT_ID.slice(0, 8)}`))
  t.equal(writes().length, 1)
  console.press('esc')
  await console.until(/nothing was changed/)
  // What was shown ahead is taken back.
  await console.until(/APPROVED/)
  isOut = true
  await console.until(/Signed out: svc login/)
  // What was read stays.
  await console.until(/APPROVED/)
  isOut = false
  await console.until((text) => !text.includes('Signed out'))
  console.press('q')
  t.match(await console.ended(), { code: 0, isPlain: true, isCursorShown: true, isCooked: true })
})

const OTHER_ID = '019aa000-0000-7000-8000-00000000000b'

t.test('many are confirmed by their number; each that could not be done is reported', async (t) => {
  const one = merchantOf({ kyb_status: 'APPROVED' })
  const other = merchantOf({
    kyb_status: 'APPROVED',
    id: OTHER_ID,
    trading_name: 'Other',
  })
  const { open, writes } = await liveService(t, [one, other], ({ path, method }) => {
    if (method !== 'PUT') return undefined
    return path.includes(OTHER_ID) ? refusal(409, 'KYB_TRANSITION_INVALID') : { json: one }
  })
  const console = open({ columns: 60, rows: 16 })
  await console.until(/KYB queue 1\/2/)
  t.match(console.screen()[0], /platform +ada OPS +\*\*\* LIVE \*\*\* +\d+ ms /, 'without colour too')
  console.press('space')
  await console.until(/1 marked/)
  console.press('space')
  await console.until(/2 marked/)
  console.press('s')
  await console.until(/LIVE: suspend 2 merchants/)
  console.type('chargebacks\r')
  await console.until(/LIVE: type 2:/)
  console.shot('live-many-60x16')
  console.type('acme\r')
  await console.until(/that is not 2/)
  console.press('ctrl-u')
  console.type('2\r')
  await console.until(/1 done, 1 failed/)
  console.shot('live-failed-60x16')
  t.match(console.text().replaceAll(/[│\s]+/g, ' '), new RegExp(`${OTHER_ID}: .*KYB_TRANSITION_INVALID`))
  t.equal(writes().length, 2)
  console.press('esc')
  await console.until(/KYB queue \d\/2/)
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true, isCooked: true })
})
