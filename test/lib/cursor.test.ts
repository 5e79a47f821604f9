import t from 'tap'
import { cursorOf, keyOfCursor, pageOf } from '../../src/lib/cursor.ts'

const isDigit = (text: string) => /^\d$/.test(text)

t.test('a cursor leads back to its key, and nothing else is one', async (t) => {
  t.equal(keyOfCursor(cursorOf('7'), isDigit), '7')
  for (const cursor of ['', '7', cursorOf('77'), cursorOf('x'), '%%%']) {
    t.throws(() => keyOfCursor(cursor, isDigit), { code: 'VALIDATION_FAILED', errors: [{ path: 'cursor' }] }, cursor)
  }
})

t.test('a page has a cursor only where more follows', async (t) => {
  t.same(pageOf(['1', '2', '3'], 2, String), { rows: ['1', '2'], nextCursor: cursorOf('2') })
  t.same(pageOf(['1', '2'], 2, String), { rows: ['1', '2'], nextCursor: null })
  t.same(pageOf([], 2, String), { rows: [], nextCursor: null })
})
