import t from 'tap'
import { LOCAL_ROWS } from './rows-local.ts'
import { runRows } from './run-rows.ts'

t.test('what runs the service, who signs in, and payers: each command in each form', (t) => runRows(t, LOCAL_ROWS))
