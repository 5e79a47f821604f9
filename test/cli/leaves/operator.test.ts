import t from 'tap'
import { OPERATOR_ROWS } from './rows-operator.ts'
import { runRows } from './run-rows.ts'

t.test('what operators do: each command in each form', (t) => runRows(t, OPERATOR_ROWS))
