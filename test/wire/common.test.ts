import t from 'tap'
import { setKybStatus, setMerchantActive, setPayoutHold } from '../../src/wire/admin.ts'
import { nameText, reasonText } from '../../src/wire/common.ts'
import { repairRegistration, registerMerchant } from '../../src/wire/registration.ts'
import { createSandboxMerchant } from '../../src/wire/sandbox.ts'
import { addStaff, changeStaffRole, createStaffClient } from '../../src/wire/staff.ts'
import { createApiCredential } from '../../src/wire/team.ts'

/** A text by its code points, for what can't be written in a title. */
function told(text: string): string {
  return [...text].map((each) => `U+${(each.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`).join(' ')
}

t.test('a name is one line of visible characters', async (t) => {
  const name = nameText(20)
  const names = [
    'Acme',
    'Müller & Söhne',
    'Booking.com',
    '株式会社アクメ',
    'شركة',
    '1&1',
    'É\u0301cole',
    'a'.repeat(20),
    '🍕 Co',
  ]
  for (const each of names) t.equal(name.parse(each), each)
  t.equal(name.parse('  Acme \u00a0'), 'Acme', 'without the blanks around it')
})

t.test('invisible characters are not valid in a name', async (t) => {
  const name = nameText(20)
  const unseen = ['', '   ', '\u00a0', '\u3000\u2003', '\u0301', '\u200b', '\u3164', '\u2800', '\u00ad']
  for (const each of unseen) t.equal(name.safeParse(each).success, false, told(each))
  const within = [
    '\n',
    '\r',
    '\t',
    '\u0000',
    '\u001b',
    '\u007f',
    '\u0085',
    '\u2028',
    '\u2029',
    '\u202e',
    '\u2066',
    '\u200f',
  ]
  for (const each of [
    ...within,
    '\u200b',
    '\u2060',
    '\ufeff',
    '\u3164',
    '\u115f',
    '\u2800',
    '\u034f',
    '\ud800',
    '\ue000',
  ])
    t.equal(name.safeParse(`Ac${each}me`).success, false, told(each))
  t.equal(name.safeParse('a'.repeat(21)).success, false)
})

t.test('a reason may have lines, and must say something', async (t) => {
  const reason = reasonText(40)
  t.equal(reason.parse(' seen on the 3rd:\n\t- twice\r\n'), 'seen on the 3rd:\n\t- twice')
  for (const each of ['', ' ', '\n\t\n', '\u200b', '\u00a0']) t.equal(reason.safeParse(each).success, false, told(each))
  for (const each of ['\u0000', '\u001b[2J', '\u202e', '\u0007', '\ud800'])
    t.equal(reason.safeParse(`a${each}b`).success, false, told(each))
  t.equal(reason.safeParse('a'.repeat(41)).success, false)
})

t.test('every name and every reason of the contract is held to it', async (t) => {
  const person = { email: 'ada@acme.example', role: 'OPS' }
  const bodies: [{ body: { safeParse(value: unknown): { success: boolean } } }, Record<string, unknown>, string[]][] = [
    [
      registerMerchant,
      { company_name: 'Acme', trading_name: 'Acme', admin_email: 'a@b.example' },
      ['company_name', 'trading_name'],
    ],
    [createSandboxMerchant, { name: 'Acme' }, ['name']],
    [addStaff, { ...person, display_name: 'Ada', reason: 'new' }, ['display_name', 'reason']],
    [changeStaffRole, { role: 'OPS', reason: 'new' }, ['reason']],
    [createStaffClient, { name: 'robot', role: 'OPS', reason: 'new' }, ['name', 'reason']],
    [createApiCredential, { name: 'shop' }, ['name']],
    [setKybStatus, { kyb_status: 'APPROVED', reason: 'seen' }, ['reason']],
    [setPayoutHold, { payout_held: true, reason: 'seen' }, ['reason']],
    [setMerchantActive, { is_active: true, reason: 'seen' }, ['reason']],
    [repairRegistration, { reason: 'seen' }, ['reason']],
  ]
  for (const [{ body }, whole, fields] of bodies) {
    t.equal(body.safeParse(whole).success, true)
    for (const field of fields) {
      for (const bad of ['   ', '\u200b', 'a\u202eb', 'a\u001bb'])
        t.equal(body.safeParse({ ...whole, [field]: bad }).success, false, `${field} ${told(bad)}`)
    }
  }
})
