import t from 'tap'
import {
  PASSWORD_LENGTH,
  hashPassword,
  passwordProblem,
  verifyDummyPassword,
  verifyPassword,
} from '../../src/identity/embedded/users/passwords.ts'

const GOOD = 'a quiet harbour at noon'

t.test('a hash is argon2id in the form of its own tools, and no two are alike', async (t) => {
  const [one, two] = await Promise.all([hashPassword(GOOD), hashPassword(GOOD)])
  t.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  t.not(one, two)
  t.ok(await verifyPassword(GOOD, one))
  t.ok(await verifyPassword(GOOD, two))
})

t.test('a hash of another tool is verified with its own cost', async (t) => {
  const known = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  // Out of the reference implementation's own tests.
  t.ok(await verifyPassword('password', known))
  t.notOk(await verifyPassword('passwore', known))
})

t.test('another password does not match', async (t) => {
  const encoded = await hashPassword(GOOD)
  for (const wrong of ['', ' ', GOOD.toUpperCase(), `${GOOD} `, GOOD.slice(1), 'ü'.repeat(300)]) {
    t.notOk(await verifyPassword(wrong, encoded), wrong)
  }
})

t.test('a malformed hash matches nothing and does not throw', async (t) => {
  const encoded = await hashPassword(GOOD)
  const broken = ['', 'plain', GOOD, encoded.slice(0, -1), encoded.replace('argon2id', 'argon2i'), `${encoded}=`]
  for (const text of broken) t.notOk(await verifyPassword(GOOD, text), text)
  t.notOk(await verifyDummyPassword(GOOD))
})

t.test('an accent matches in every encoding', async (t) => {
  t.ok(await verifyPassword('cafe\u0301 au lait, s’il', await hashPassword('caf\u00e9 au lait, s’il')))
})

t.test('password length is counted in characters', async (t) => {
  const { min, max } = PASSWORD_LENGTH
  t.same([min, max], [12, 256])
  t.match(passwordProblem('short enough'.slice(0, min - 1), 'a@b.example'), /at least 12/)
  t.equal(passwordProblem('short enough', 'a@b.example'), undefined)
  t.equal(passwordProblem('🜁🜂🜃🜄 earth, sea'.slice(0, 20), 'a@b.example'), undefined)
  t.match(passwordProblem('🜁🜂🜃🜄🜁🜂', 'a@b.example'), /at least 12/, 'six signs that take twelve places are six')
  const long = 'many words '.repeat(24)
  t.equal(passwordProblem(long.slice(0, max), 'a@b.example'), undefined)
  t.match(passwordProblem(long.slice(0, max + 1), 'a@b.example'), /at most 256/)
})

t.test('the address, common passwords and repetitions are rejected', async (t) => {
  const email = 'Ada.Lovelace@example.com'
  t.match(passwordProblem('ada.lovelace@EXAMPLE.com', email), /must not be your e-mail address/)
  t.match(passwordProblem(' ada.lovelace@example.com ', email), /must not be your e-mail address/)
  for (const common of [
    'password1234',
    'PassWord1234',
    'qwertyuiop12',
    '123456789012',
    'aaaaaaaaaaaa',
    'abcabcabcabc',
  ]) {
    t.match(passwordProblem(common, email), /too easy to guess/, common)
  }
  t.equal(passwordProblem('ada.lovelace is me', email), undefined)
})
