import t from 'tap'
import { isRecentSignIn } from '../../src/lib/sign-in-levels.ts'

t.test('a sign-in counts for its time, also where the database is ahead by less than a minute', async (t) => {
  const now = Math.floor(Date.now() / 1_000)
  t.ok(isRecentSignIn(now - 500, 600))
  t.notOk(isRecentSignIn(now - 700, 600))
  t.ok(isRecentSignIn(now + 30, 600))
  t.notOk(isRecentSignIn(now + 3_600, 600))
})
