import t from 'tap'
import { merchantOf } from '../admin-harness.ts'
import { liveService } from './live-service.ts'

/* Keys that nobody sees the picture of, and a console that is left or stopped while something goes on. */

const RESTORED = { isPlain: true, isCursorShown: true, pastesPlain: true, isCooked: true }
const APPROVED = merchantOf({ kyb_status: 'APPROVED' })

t.test('where no picture is drawn no key acts', async (t) => {
  const { open, writes } = await liveService(t, [APPROVED], () => undefined)
  const console = open({ columns: 40, rows: 10 })
  await console.until(/svc needs 60x16, this is 40x10\nctrl-c quits/)
  console.type('s')
  console.type('why\racme\r\r')
  console.type('\u001b[200~pasted\u001b[201~')
  console.press('2', 'q')
  // A change of size may be known before the keys are read: drawn, it has come after them.
  console.resize(41, 10)
  await console.until(/svc needs 60x16, this is 41x10/)
  console.resize(80, 24)
  await console.until(/KYB queue 1\/1/)
  console.press('?')
  await console.until(/Keys of KYB queue/)
  t.notMatch(console.text(), /why|pasted/)
  t.same(writes(), [])
  console.resize(40, 10)
  await console.until(/svc needs 60x16/)
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, ...RESTORED })
})

t.test('leaving while an action is in progress names the action, and where to look', async (t) => {
  const { open, writes } = await liveService(t, [APPROVED], ({ method }) => (method === 'PUT' ? 'silence' : undefined))
  const console = open()
  await console.until(/s suspend/)
  console.press('s')
  await console.until(/enter continue +esc cancel/)
  console.type('chargebacks\r')
  await console.until(/LIVE: type acme/)
  // The key says what it does.
  await console.until(/enter suspend +esc cancel/)
  console.type('acme\r')
  await console.until(/Working \.\.\. \d+ s/)
  t.match(console.screen().slice(-2).join('\n'), /ctrl-c quit; what was sent may still be done/)
  t.notMatch(console.screen().slice(-2).join('\n'), /enter|esc/, 'no key is named that does nothing')
  console.press('esc', 'enter')
  console.press('ctrl-c')
  const left = await console.ended()
  t.match(left, { code: 130, ...RESTORED })
  t.match(left.text, /Not known: "suspend Acme" was being sent when the console ended\n/)
  t.match(left.text, new RegExp(`Try: svc explain ${APPROVED.id} --platform`))
  t.equal(writes().length, 1)
})
