import t from 'tap'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'

const ALL = [...ROUTES, ...SANDBOX_ROUTES]

t.test("an operation's handler has the operation's name", async (t) => {
  t.same(
    ALL.map(({ handlerName }) => handlerName),
    ALL.map(({ operation }) => operation.name),
  )
})

t.test('an operation has one row', async (t) => {
  const names = ALL.map(({ operation }) => operation.name)
  t.same(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
})
